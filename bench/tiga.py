"""The C library of Tiga, called by ctypes: as much of it as the benchmarks need."""

import ctypes

import numpy

DTYPES = {"int32": 2, "int64": 3, "float32": 4, "float64": 5}
POINTER, SIZE = ctypes.c_void_p, ctypes.c_size_t


class Text(ctypes.Structure):
    """tiga_str."""

    _fields_ = [("data", ctypes.c_char_p), ("len", SIZE)]

    @classmethod
    def of(cls, text):
        data = text.encode()
        return cls(data, len(data))


class Array(ctypes.Structure):
    """tiga_array and tiga_array_mut."""

    _fields_ = [
        ("data", POINTER),
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", POINTER),
    ]


class Tiga:
    """The library. Handles live as long as the process: a benchmark is one."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.tiga_error_message.restype = Text
        self.library.tiga_error_message.argtypes = [POINTER]

    def _do(self, name, types, *arguments):
        function = getattr(self.library, name)
        function.argtypes = [*types, POINTER]
        error = POINTER()
        if function(*arguments, ctypes.byref(error)) != 0:
            message = self.library.tiga_error_message(error)
            raise RuntimeError(message.data[: message.len].decode())

    def _make(self, name, types, *arguments):
        handle = POINTER()
        self._do(name, [*types, POINTER], *arguments, ctypes.byref(handle))
        return handle

    def context(self):
        return self._make("tiga_context_new", [POINTER], None)

    def bundle(self, path):
        return self._make("tiga_bundle_open", [Text], Text.of(str(path)))

    def graph(self, num_src, row_ptr, col):
        types = [SIZE, SIZE, SIZE, POINTER, POINTER, ctypes.c_int32]
        sizes = (num_src, len(row_ptr) - 1, len(col))
        return self._make(
            "tiga_graph_from_csr", types, *sizes, row_ptr.ctypes.data, col.ctypes.data, DTYPES[col.dtype.name]
        )

    def call(self, bundle, program, graph, inputs, output):
        """A call with its arrays bound, and how to run it on a context."""
        call = self._make("tiga_call_new", [POINTER, Text], bundle, Text.of(program))
        if graph is not None:
            self._do("tiga_call_graph", [POINTER, Text, POINTER], call, Text.of(graph[0]), graph[1])
        for kind, (name, array) in [("input", each) for each in inputs] + [("output", output)]:
            self._bind(kind, call, name, array)
        run = self.library.tiga_call_run
        run.argtypes = [POINTER] * 3

        def on(context):
            if run(call, context, None) != 0:
                raise RuntimeError(f"{program} failed")

        return on

    def _bind(self, kind, call, name, array):
        assert array.flags.c_contiguous
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        described = Array(array.ctypes.data, DTYPES[array.dtype.name], array.ndim, shape, None)
        self._do(f"tiga_call_{kind}", [POINTER, Text, POINTER], call, Text.of(name), ctypes.byref(described))
