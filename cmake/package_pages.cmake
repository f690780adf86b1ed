# Debian has its own places and forms for pages of packages; CPack runs this
# before it packs.
set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/dogged/usr/share)
file(GLOB pages ${share}/man/man1/*.1)
execute_process(COMMAND gzip -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${share}/zsh/site-functions ${share}/zsh/vendor-completions)
