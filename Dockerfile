# The command alone: `docker build -t relax-spec . && docker run --rm -v "$PWD:/work" relax-spec check model.py`.
FROM rust:1.95-slim-trixie AS build
WORKDIR /source
COPY . .
RUN cargo build --locked --profile dist --package relax-spec-cli --bin relax-spec

FROM debian:trixie-slim
COPY --from=build /source/target/dist/relax-spec /usr/local/bin/relax-spec
RUN useradd --create-home user
USER user
WORKDIR /work
ENTRYPOINT ["relax-spec"]
CMD ["help"]
