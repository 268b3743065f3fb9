"""What an exported script puts around the lines of the model: they write no file, start no program and reach no network.

The lines were checked word by word. This holds where something of pandas or matplotlib does more than its name says, as LaTeX for a text.
"""

SOURCE = """def shut_in() -> Any:
    \"\"\"From here on nothing is written, started or reached over a network, until what is given back is called.

    numpy would read a column or a key called __array_interface__ as an address in memory: frames answer for none such.
    \"\"\"
    import sys
    from os import O_APPEND, O_CREAT, O_RDWR, O_TRUNC, O_WRONLY, fsdecode, path, sep

    import matplotlib
    import scipy.optimize

    for kind in (pd.DataFrame, scipy.optimize.OptimizeResult):
        home = next(each for each in kind.__mro__ if "__getattr__" in vars(each))
        home.__getattr__ = lambda self, name, found=home.__getattr__: (
            object.__getattribute__(self, name) if name[:2] == "__" else found(self, name)
        )
    folders = [path.dirname(path.__file__), *(path.dirname(path.dirname(one.__file__)) for one in (np, pd, scipy, matplotlib))]
    folders += ["/usr/share/zoneinfo", "/usr/share/fonts", "/System/Library/Fonts", "C:\\\\Windows\\\\Fonts"]
    readable = tuple(path.realpath(folder) + sep for folder in folders)
    read = (path.realpath(__file__),) if "__file__" in globals() else ()
    closed = ("os.", "subprocess.", "socket.", "ctypes.", "shutil.", "tempfile.", "mmap.", "fcntl.", "pty.", "urllib.", "webbrowser.",
              "http.", "ftplib.", "smtplib.", "sqlite3.", "winreg.", "msvcrt.", "_winapi.", "signal.", "syslog.")  # fmt: skip
    allowed = ("os.listdir", "os.scandir", "os.walk")
    writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND
    shut = [True]

    def watch(event: str, given: tuple[Any, ...]) -> None:
        if not shut or event in allowed or not (event == "open" or event.startswith(closed)):
            return
        if event == "open" and isinstance(given[0], str | bytes) and not given[2] & writing and not set(given[1] or "") & set("wax+"):
            place = path.realpath(fsdecode(given[0]))
            if place.startswith(readable) or place in read:
                return
        raise PermissionError(f"{event}: the computation of an exported script may not do this")

    sys.addaudithook(watch)
    return shut.clear"""
