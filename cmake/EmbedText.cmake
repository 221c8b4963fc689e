# cmake -DINPUT=file -DOUTPUT=file.c -DNAME=symbol -P EmbedText.cmake
# Writes a C file that defines `const char NAME[]` with INPUT's bytes and a NUL.
file(READ "${INPUT}" hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "((0x..,){16})" "\\1\n\t" bytes "${bytes}")
file(WRITE "${OUTPUT}" "extern const char ${NAME}[];\nconst char ${NAME}[] = {\n\t${bytes}0\n};\n")
