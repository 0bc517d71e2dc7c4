/* Images and recordings. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

static gemwire_medium medium(gemwire_medium_kind kind, const void *data, size_t length) {
  gemwire_medium m = {.size = sizeof m, .kind = kind, .data = data, .length = length};
  return m;
}

static void an_image_and_a_recording(void) {
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  gemwire_answer_options options = greedy();
  gemwire_result result = {.size = sizeof result};
  size_t picture_length, clip_length;
  void *picture = read_sample("scene3.png", &picture_length), *clip = read_sample("speech0.wav", &clip_length);
  gemwire_medium m = medium(GEMWIRE_IMAGE, picture, picture_length);
  CHECK_STATUS(gemwire_say(session, "What is in this picture?", &m, 1, &options, &result), GEMWIRE_OK, session);
  memset(picture, 0, picture_length); /* the library has its own by now */
  CHECK_TEXT(gemwire_answer_text(session), "A black square and a yellow triangle on a green background.");
  CHECK(result.media == 1 && result.media_seconds > 0 && result.media_seconds <= result.prefill_seconds);
  CHECK_STATUS(gemwire_say(session, "What is in this picture?", NULL, 0, &options, &result), GEMWIRE_OK, session);
  CHECK_SAYING(result.media == 0, "a follow-up question encodes the picture again");
  CHECK_STATUS(gemwire_release_media(model), GEMWIRE_OK, model);
  m = medium(GEMWIRE_AUDIO, clip, clip_length);
  CHECK_STATUS(gemwire_chat(session, "[{\"role\":\"user\",\"content\":[{\"type\":\"audio\"},{\"type\":\"text\",\"text\":\"Transcribe this audio.\"}]}]", &m, 1,
                            &options, &result),
               GEMWIRE_OK, session);
  CHECK_TEXT(gemwire_answer_text(session), "cross five");
  gemwire_close(model);
  free(picture);
  free(clip);
}

static void bad_media(void) {
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  gemwire_answer_options options = greedy();
  options.max_tokens = 2;
  size_t length;
  char *picture = read_sample("scene0.png", &length);
  gemwire_medium m[2] = {medium(GEMWIRE_IMAGE, "no picture", 10), medium(GEMWIRE_IMAGE, picture, length)};
  CHECK_STATUS(gemwire_say(session, "x", m, 2, &options, NULL), GEMWIRE_BAD_MEDIA, session);
  m[0] = medium(GEMWIRE_IMAGE, picture, length / 2);
  CHECK_STATUS(gemwire_say(session, "x", m, 1, &options, NULL), GEMWIRE_BAD_MEDIA, session);
  m[0] = medium(GEMWIRE_AUDIO, picture, length);
  CHECK_STATUS(gemwire_say(session, "x", m, 1, &options, NULL), GEMWIRE_BAD_MEDIA, session);
  m[0] = medium(GEMWIRE_IMAGE, NULL, 0);
  CHECK_STATUS(gemwire_say(session, "x", m, 1, &options, NULL), GEMWIRE_BAD_MEDIA, session);
  m[0] = medium(GEMWIRE_IMAGE, NULL, 10);
  CHECK_STATUS(gemwire_say(session, "x", m, 1, &options, NULL), GEMWIRE_BAD_ARGUMENT, session);
  m[0] = medium(GEMWIRE_IMAGE, picture, SIZE_MAX);
  CHECK_STATUS(gemwire_say(session, "x", m, 1, &options, NULL), GEMWIRE_BAD_ARGUMENT, session);
  m[0] = medium((gemwire_medium_kind)9, picture, length);
  CHECK_STATUS(gemwire_say(session, "x", m, 1, &options, NULL), GEMWIRE_BAD_ARGUMENT, session);
  m[0] = medium(GEMWIRE_IMAGE, picture, length);
  m[0].image_budget = 3;
  CHECK_STATUS(gemwire_say(session, "x", m, 1, &options, NULL), GEMWIRE_BAD_ARGUMENT, session);
  m[0].image_budget = 0, m[0].size = 0;
  CHECK_STATUS(gemwire_say(session, "x", m, 1, &options, NULL), GEMWIRE_BAD_ARGUMENT, session);
  m[0].size = sizeof *m;
  CHECK_STATUS(gemwire_chat(session, "[{\"role\":\"user\",\"content\":\"x\"}]", m, 1, &options, NULL), GEMWIRE_BAD_ARGUMENT, session);
  CHECK_STATUS(gemwire_chat(session, "[{\"role\":\"user\",\"content\":[{\"type\":\"image\"},{\"type\":\"image\"}]}]", m, 1, &options, NULL),
               GEMWIRE_BAD_ARGUMENT, session);
  CHECK_STATUS(gemwire_say(session, "What is in this picture?", m, 1, &options, NULL), GEMWIRE_OK, session); /* and the session still works */
  gemwire_close(model);
  free(picture);
}

/* Frames of one colour each, as a program has them that takes videos apart by itself. */
static void a_video(void) {
  enum { width = 64, height = 48, count = 3 };
  gemwire_model model;
  gemwire_session session;
  open_both(&model, &session);
  gemwire_answer_options options = greedy();
  options.max_tokens = 2;
  gemwire_result result = {.size = sizeof result};
  size_t length = (size_t)4 * width * height * count;
  unsigned char *pixels = malloc(length);
  for (size_t i = 0; i < length; i++) pixels[i] = i % 4 == 3 ? 255 : (unsigned char)(60 * (i / (4 * width * height)) + 20 * (i % 4));
  const int32_t indices[count] = {0, 30, 60};
  gemwire_medium m = medium(GEMWIRE_VIDEO, pixels, length);
  m.width = width, m.height = height, m.fps = 30, m.indices = indices;
  CHECK_STATUS(gemwire_say(session, "What happens?", &m, 1, &options, &result), GEMWIRE_OK, session);
  CHECK(result.media == count);
  int32_t prompt = result.prompt_tokens;
  CHECK_STATUS(gemwire_chat(session, "[{\"role\":\"user\",\"content\":[{\"type\":\"video\"},{\"type\":\"text\",\"text\":\"What happens?\"}]}]", &m, 1,
                            &options, &result),
               GEMWIRE_OK, session);
  CHECK_SAYING(result.prompt_tokens == prompt && result.media == 0, "%d tokens, %d frames", result.prompt_tokens, result.media);
  m.image_budget = 140;
  CHECK_STATUS(gemwire_chat(session, "[{\"role\":\"user\",\"content\":[{\"type\":\"video\"}]}]", &m, 1, &options, &result), GEMWIRE_OK, session);
  CHECK_SAYING(result.prompt_tokens > prompt + 100, "%d tokens", result.prompt_tokens);
  const int32_t backwards[count] = {9, 3, 1};
  m.indices = backwards;
  CHECK_STATUS(gemwire_say(session, "x", &m, 1, &options, NULL), GEMWIRE_BAD_MEDIA, session);
  m.indices = NULL;
  CHECK_STATUS(gemwire_say(session, "x", &m, 1, &options, NULL), GEMWIRE_BAD_ARGUMENT, session);
  m.indices = indices, m.length--;
  CHECK_STATUS(gemwire_say(session, "x", &m, 1, &options, NULL), GEMWIRE_BAD_ARGUMENT, session);
  m = medium(GEMWIRE_VIDEO, NULL, 0);
  CHECK_STATUS(gemwire_say(session, "x", &m, 1, &options, NULL), GEMWIRE_BAD_MEDIA, session);
  m.path = "/nonexistent/clip.mp4";
  CHECK_STATUS(gemwire_say(session, "x", &m, 1, &options, NULL), GEMWIRE_NOT_FOUND, session);
  m = medium(GEMWIRE_IMAGE, pixels, length);
  m.frames = 3;
  CHECK_STATUS(gemwire_say(session, "x", &m, 1, &options, NULL), GEMWIRE_BAD_ARGUMENT, session);
  gemwire_close(model);
  free(pixels);
}

const test media_tests[] = {
    {"an image and a recording", an_image_and_a_recording, true},
    {"a video", a_video, true},
    {"bad media", bad_media, false},
    {0}, /* the end */
};
