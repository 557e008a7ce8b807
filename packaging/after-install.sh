#!/bin/sh
# After 'make install' on this machine (not with DESTDIR): lets programs find the library, or says how. Usage: after-install.sh LIBDIR
libdir=$1
# The loader's cache can be written by root only, and is of use only where the loader looks.
case "$(/sbin/ldconfig -v -N -X 2>/dev/null)" in
*"$libdir:"*)
    /sbin/ldconfig 2>/dev/null ||
        echo "run 'ldconfig' as root, so that programs find $libdir/libmaxrace.so (those that pkg-config links find it anyway outside /usr)"
    ;;
esac
if command -v pkg-config >/dev/null && ! pkg-config --exists maxrace; then
    echo "pkg-config finds the library with PKG_CONFIG_PATH=$libdir/pkgconfig"
fi
exit 0
