#include "answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "json.h"

static token_id *allocate(size_t count) {
    token_id *tokens = calloc(count, sizeof *tokens);
    if (tokens == NULL) {
        fail("out of memory");
    }
    return tokens;
}

static int32_t read_ids(const struct model *model, const char *list, token_id *tokens) {
    int32_t count = 0;
    for (const char *at = list; *at != '\0';) {
        char *end;
        long id = strtol(at, &end, 10);
        if (end == at || id < 0 || id >= model->vocabulary || (*end != ',' && *end != '\0')) {
            fail("--ids: expected token ids below %d, separated by commas, at \"%.20s\"", model->vocabulary, at);
        }
        tokens[count++] = (token_id)id;
        at = *end == ',' ? end + 1 : end;
    }
    return count;
}

static int32_t read_prompt(const struct model *model, token_id *tokens, size_t room) {
    const struct options *o = model->options;
    if (o->ids != NULL) {
        return read_ids(model, o->ids, tokens);
    }
    int32_t length = (int32_t)strlen(o->text);
    return model->lib->llama_tokenize(model->vocab, o->text, length, tokens, (int32_t)room, false, true);
}

static void print_ids(const char *name, const token_id *tokens, int32_t count) {
    printf("  \"%s\": [", name);
    for (int32_t i = 0; i < count; i++) {
        printf("%s%d", i == 0 ? "" : ", ", tokens[i]);
    }
    printf("],\n");
}

void answer(const struct model *model, enum choice choice) {
    const struct options *o = model->options;
    size_t room = strlen(o->ids != NULL ? o->ids : o->text) + 8;
    token_id *prompt = allocate(room);
    token_id *tokens = allocate((size_t)o->decode_tokens);
    int32_t prompt_count = read_prompt(model, prompt, room);
    if (prompt_count <= 0) {
        fail("the prompt has no tokens");
    }

    struct run run = run_open(model, choice, prompt_count + o->decode_tokens);
    run_feed(&run, prompt, prompt_count);
    int32_t count = 0;
    while (count < o->decode_tokens) {
        token_id token = run_choose(&run);
        if (token == NO_TOKEN) {
            fail("no token was chosen");
        }
        tokens[count++] = token;
        if (model->lib->llama_vocab_is_eog(model->vocab, token)) {
            break;
        }
        run_feed(&run, &token, 1);
    }
    run_close(&run);

    size_t text_room = (size_t)count * 64 + 64;
    char *text = calloc(text_room, 1);
    if (text == NULL ||
        model->lib->llama_detokenize(model->vocab, tokens, count, text, (int32_t)text_room - 1, false, true) < 0) {
        fail("the answer could not be turned into text");
    }
    printf("{\n");
    print_ids("prompt", prompt, prompt_count);
    print_ids("tokens", tokens, count);
    printf("  \"text\": ");
    json_string(stdout, text);
    printf("\n}\n");
    free(text);
    free(tokens);
    free(prompt);
}
