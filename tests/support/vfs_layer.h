// VfsLayer: what each layer over SQLite's file layer needs; methods it does not replace pass on.
#ifndef TRUCE_TESTS_SUPPORT_VFS_LAYER_H_
#define TRUCE_TESTS_SUPPORT_VFS_LAYER_H_

#include <cstddef>
#include <string>

// Only files that have SQLite at hand may see its layers.
#ifndef SQLITE_VERSION_NUMBER
#error "include <sqlite3.h> before this header"
#endif

namespace truce {

// `File` is what the layer keeps of each open file; a trivial type. SQLite allocates it, with the
// memory of the file below behind it.
template <typename File>
struct VfsLayer {
  struct Opened {
    sqlite3_file base;
    File mine;
  };
  static constexpr std::size_t kRealOffset = (sizeof(Opened) + 15U) / 16U * 16U;

  static File& Mine(sqlite3_file* file) {
    return static_cast<Opened*>(static_cast<void*>(file))->mine;
  }

  // The file below.
  static sqlite3_file* Real(sqlite3_file* file) {
    return static_cast<sqlite3_file*>(
        static_cast<void*>(static_cast<char*>(static_cast<void*>(file)) + kRealOffset));
  }

  // Calls a method of the file below.
  template <auto kMethod, typename... Args>
  static auto Pass(sqlite3_file* file, Args... args) {
    sqlite3_file* const real = Real(file);
    return (real->pMethods->*kMethod)(real, args...);
  }

  static constexpr sqlite3_io_methods kPassAll = {
      3,
      Pass<&sqlite3_io_methods::xClose>,
      Pass<&sqlite3_io_methods::xRead, void*, int, sqlite3_int64>,
      Pass<&sqlite3_io_methods::xWrite, const void*, int, sqlite3_int64>,
      Pass<&sqlite3_io_methods::xTruncate, sqlite3_int64>,
      Pass<&sqlite3_io_methods::xSync, int>,
      Pass<&sqlite3_io_methods::xFileSize, sqlite3_int64*>,
      Pass<&sqlite3_io_methods::xLock, int>,
      Pass<&sqlite3_io_methods::xUnlock, int>,
      Pass<&sqlite3_io_methods::xCheckReservedLock, int*>,
      Pass<&sqlite3_io_methods::xFileControl, int, void*>,
      Pass<&sqlite3_io_methods::xSectorSize>,
      Pass<&sqlite3_io_methods::xDeviceCharacteristics>,
      Pass<&sqlite3_io_methods::xShmMap, int, int, int, void volatile**>,
      Pass<&sqlite3_io_methods::xShmLock, int, int, int>,
      Pass<&sqlite3_io_methods::xShmBarrier>,
      Pass<&sqlite3_io_methods::xShmUnmap, int>,
      Pass<&sqlite3_io_methods::xFetch, sqlite3_int64, int, void**>,
      Pass<&sqlite3_io_methods::xUnfetch, sqlite3_int64, void*>,
  };

  // Makes `vfs` a layer over `real`, called `name`; both must live as long. xOpen is left to the
  // layer; the other methods are those of `real`, with its pAppData.
  static void LayOver(const sqlite3_vfs& real, const std::string& name, sqlite3_vfs& vfs) {
    vfs = real;
    vfs.zName = name.c_str();
    vfs.szOsFile = static_cast<int>(kRealOffset) + real.szOsFile;
  }
};

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_VFS_LAYER_H_
