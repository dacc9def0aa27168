/* Links in one compiled shader, SHADER_FILE, as shader_NAME; compiled once per .comp file. */
#include "gpu/gpu.h"

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)
#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)

__asm__(".section .rodata\n"
	".balign 16\n"
	"shader_code_" TEXT(SHADER_NAME) ":\n"
	".incbin \"" SHADER_FILE "\"\n"
	"shader_end_" TEXT(SHADER_NAME) ":\n"
	".previous\n");

extern const uint32_t PASTE(shader_code_, SHADER_NAME)[], PASTE(shader_end_, SHADER_NAME)[];

const struct shader PASTE(shader_, SHADER_NAME) = {
	TEXT(SHADER_NAME), PASTE(shader_code_, SHADER_NAME), PASTE(shader_end_, SHADER_NAME)
};
