// The rules of traceback as a C++ program would have them: each sample is copied into a ring, then every rule looks at it.
// Usage: rival SAMPLES RULES CELL RING PIECE MIN_MS EDGES. Prints nanoseconds a pass; writes the edges of one pass.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <vector>

enum Kind { GT, LT, INC, DT_GT, DT_LT };

struct Rule {
  Kind kind;
  uint32_t at; // of its value in a record, in words of 64 bits
  uint64_t value, over, on, off;
  bool isCounter;
};

struct State {
  bool isActive = false, hasFrom = false;
  uint64_t count = 0, from = 0, reference = 0;
  std::deque<uint64_t> wraps;
};

struct Edge {
  uint64_t sample;
  uint32_t rule, isStart;
};

struct Ring {
  std::vector<uint64_t> words;
  uint64_t stride, capacity;
  const uint64_t *at(uint64_t sample) const { return &words[(sample % capacity) * stride]; }
};

#define INLINE inline __attribute__((always_inline))

static INLINE void toggle(State &state, std::vector<Edge> &edges, uint64_t sample, uint32_t index) {
  state.isActive = !state.isActive;
  state.count = 0;
  edges.push_back({sample, index, state.isActive});
}

static INLINE void fallen(const Rule &rule, State &state, uint64_t value, uint64_t before, uint64_t sample) {
  bool isWrap = before >= 3ull << 30 && before < 1ull << 32 && value < 1ull << 30;
  if (rule.kind == INC) {
    state.reference = isWrap ? state.reference - (1ull << 32) : value;
    return;
  }
  if (isWrap) {
    state.wraps.push_back(sample);
    return;
  }
  state.from = sample;
  state.count = 0;
  state.wraps.clear();
}

static INLINE void step(const Rule &rule, State &state, const Ring &ring, const uint64_t *record, const uint64_t *previous,
                        uint64_t sample, uint32_t index, std::vector<Edge> &edges) {
  uint64_t value = record[rule.at];
  bool isMatch;
  switch (rule.kind) {
  case GT:
  case LT:
    isMatch = rule.kind == GT ? value > rule.value : value < rule.value;
    if (isMatch == state.isActive)
      state.count = 0;
    else if (++state.count >= (state.isActive ? rule.off : rule.on))
      toggle(state, edges, sample, index);
    return;
  case INC:
    if (!state.hasFrom) {
      state.reference = value;
      state.hasFrom = true;
    } else if (rule.isCounter && value < previous[rule.at])
      fallen(rule, state, value, previous[rule.at], sample);
    isMatch = value - state.reference >= rule.value;
    if (isMatch) state.reference = value;
    if (isMatch != state.isActive) toggle(state, edges, sample, index);
    return;
  default:
    if (sample > 0 && rule.isCounter && value < previous[rule.at])
      fallen(rule, state, value, previous[rule.at], sample);
    if (sample < state.from + rule.over) return;
    uint64_t risen = value - ring.at(sample - rule.over)[rule.at];
    if (!state.wraps.empty()) {
      while (!state.wraps.empty() && state.wraps.front() <= sample - rule.over) state.wraps.pop_front();
      risen += state.wraps.size() << 32;
    }
    isMatch = rule.kind == DT_GT ? risen > rule.value : risen < rule.value;
    if (isMatch == state.isActive)
      state.count = 0;
    else if (!state.isActive || ++state.count >= rule.off)
      toggle(state, edges, sample, index);
  }
}

#ifdef UNROLLED
// Written by the benchmark: `step` of each rule with its numbers as constants.
#include "unrolled.h"
#endif

// Ends come before beginnings, each in the order of the rules.
static void order(std::vector<Edge> &edges, size_t first) {
  for (size_t at = first + 1; at < edges.size(); at++)
    for (size_t to = at; to > first && edges[to].isStart < edges[to - 1].isStart; to--) std::swap(edges[to], edges[to - 1]);
}

static void pass(const std::vector<uint64_t> &samples, const std::vector<Rule> &rules, Ring &ring, uint64_t piece,
                 std::vector<Edge> &edges) {
  std::vector<State> states(rules.size());
  uint64_t count = samples.size() / ring.stride;
  for (uint64_t first = 0; first < count; first += piece) {
    uint64_t end = first + piece < count ? first + piece : count;
    for (uint64_t done = first; done < end;) {
      uint64_t at = done % ring.capacity;
      uint64_t part = end - done < ring.capacity - at ? end - done : ring.capacity - at;
      memcpy(&ring.words[at * ring.stride], &samples[done * ring.stride], part * ring.stride * 8);
      done += part;
    }
    for (uint64_t sample = first; sample < end; sample++) {
      const uint64_t *record = ring.at(sample), *previous = sample == 0 ? record : ring.at(sample - 1);
      size_t before = edges.size();
#ifdef UNROLLED
      stepAll(states.data(), ring, record, previous, sample, edges);
#else
      for (uint32_t index = 0; index < rules.size(); index++)
        step(rules[index], states[index], ring, record, previous, sample, index, edges);
#endif
      if (edges.size() > before + 1) order(edges, before);
    }
  }
}

template <typename T> static std::vector<T> load(const char *path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<T> values(file.tellg() / sizeof(T));
  file.seekg(0).read(reinterpret_cast<char *>(values.data()), values.size() * sizeof(T));
  return values;
}

int main(int, char **argv) {
  auto samples = load<uint64_t>(argv[1]);
  auto numbers = load<uint64_t>(argv[2]);
  std::vector<Rule> rules;
  for (size_t at = 0; at < numbers.size(); at += 7)
    rules.push_back({Kind(numbers[at]), uint32_t(numbers[at + 1]), numbers[at + 2], numbers[at + 3], numbers[at + 4],
                     numbers[at + 5], numbers[at + 6] == 1});
  uint64_t stride = strtoull(argv[3], nullptr, 10), capacity = strtoull(argv[4], nullptr, 10);
  uint64_t piece = strtoull(argv[5], nullptr, 10);
  double minMs = atof(argv[6]);
  Ring ring{std::vector<uint64_t>(stride * capacity), stride, capacity};
  std::vector<Edge> edges;
  pass(samples, rules, ring, piece, edges);
  std::ofstream(argv[7], std::ios::binary).write(reinterpret_cast<char *>(edges.data()), edges.size() * sizeof(Edge));
  auto started = std::chrono::steady_clock::now();
  double elapsedNs = 0;
  uint64_t passes = 0;
  while (elapsedNs < minMs * 1e6) {
    edges.clear();
    pass(samples, rules, ring, piece, edges);
    passes++;
    elapsedNs = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - started).count();
  }
  printf("%.0f\n", elapsedNs / passes);
}
