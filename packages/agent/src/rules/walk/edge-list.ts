const FIRST_ROOM = 256

/**
 * Edges of a walk: the samples at which rules began or ended. Loops note them as keys, one block at a time. Sorting the
 * keys gives the order of the edges.
 */
export class EdgeList {
  /** Number of listed edges. */
  count = 0
  /** Rule index of each edge. */
  rule = new Uint32Array(FIRST_ROOM)
  /** Sample of each edge. */
  sample = new Float64Array(FIRST_ROOM)
  /** 1 for a beginning, 0 for an end. */
  isStart = new Uint8Array(FIRST_ROOM)
  #keys = new Float64Array(FIRST_ROOM)
  #noted = 0
  #first = 0
  #rules = 1
  #endsFirst = false

  /** Forgets all edges. */
  clear(): void {
    this.count = 0
  }

  /**
   * Starts a block of samples for `rules` rules.
   * @param endsFirst Whether the ends of a sample come before its beginnings; otherwise the order is that of the rules.
   */
  begin(first: number, rules: number, endsFirst: boolean): void {
    this.#first = first
    this.#rules = rules
    this.#endsFirst = endsFirst
    this.#noted = 0
  }

  /** Notes an edge of the block. */
  note(sample: number, rule: number, isStart: boolean): void {
    if (this.#noted === this.#keys.length) {
      const grown = new Float64Array(2 * this.#noted)
      grown.set(this.#keys)
      this.#keys = grown
    }
    const start = isStart ? 1 : 0
    const rules = this.#rules
    const inSample = this.#endsFirst ? start * rules + rule : rule * 2 + start
    this.#keys[this.#noted++] = (sample - this.#first) * 2 * rules + inSample
  }

  /** Lists the edges that were noted since {@link begin}. */
  end(): void {
    const noted = this.#noted
    if (noted === 0) return
    this.#grow(this.count + noted)
    const keys = this.#keys.subarray(0, noted).sort()
    const width = 2 * this.#rules
    for (let index = 0; index < noted; index++) {
      const key = keys[index] as number
      const relative = Math.floor(key / width)
      const inSample = key - relative * width
      const at = this.count++
      this.sample[at] = this.#first + relative
      this.isStart[at] = this.#endsFirst ? (inSample >= this.#rules ? 1 : 0) : inSample & 1
      this.rule[at] = this.#endsFirst ? inSample % this.#rules : inSample >> 1
    }
  }

  #grow(room: number): void {
    if (room <= this.sample.length) return
    const length = Math.max(room, 2 * this.sample.length)
    const { rule, sample, isStart } = this
    this.rule = new Uint32Array(length)
    this.sample = new Float64Array(length)
    this.isStart = new Uint8Array(length)
    this.rule.set(rule)
    this.sample.set(sample)
    this.isStart.set(isStart)
  }
}
