from relax_spec._command import main

if __name__ == "__main__":
    main()
