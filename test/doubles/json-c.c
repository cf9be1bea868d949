/*
 * What json-c makes of texts: the oracle of the lenient reader of rules. On standard input: texts, each behind its
 * length (32 bits, little-endian). On standard output, likewise: "-" for a text that is refused; else "+", the value as
 * json-c prints it, and a line for each member of the outermost object: its text in hexadecimal, and what strtoul makes
 * of that in base 10 and 16.
 */
#include <json-c/json.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(FILE *to, const char *text) {
	for (; *text; text++) fprintf(to, "%02x", (unsigned char)*text);
}

static void tell(FILE *to, struct json_object *root) {
	const char *all = json_object_get_string(root);
	fputc('+', to);
	put(to, all ? all : "");
	fputc('\n', to);
	if (json_object_get_type(root) != json_type_object) return;
	json_object_object_foreach(root, key, value) {
		const char *text = json_object_get_string(value);
		put(to, key);
		if (text == NULL) {
			fprintf(to, " null\n");
			continue;
		}
		fprintf(to, " =");
		put(to, text);
		fprintf(to, " %lu %llu\n", strtoul(text, NULL, 10), strtoull(text, NULL, 16));
	}
}

int main(void) {
	uint32_t length;
	while (fread(&length, 4, 1, stdin) == 1) {
		char *text = malloc(length + 1);
		if (text == NULL || fread(text, 1, length, stdin) != length) return 1;
		text[length] = 0;
		struct json_object *root = json_tokener_parse(text);
		char *answer = NULL;
		size_t size = 0;
		FILE *to = open_memstream(&answer, &size);
		if (root == NULL) fputc('-', to);
		else tell(to, root);
		fclose(to);
		uint32_t answered = size;
		fwrite(&answered, 4, 1, stdout);
		fwrite(answer, 1, size, stdout);
		free(answer);
		free(text);
		if (root) json_object_put(root);
	}
	return 0;
}
