"""`python -m verl_doctor`."""

from .cli import main

if __name__ == "__main__":
    main()
