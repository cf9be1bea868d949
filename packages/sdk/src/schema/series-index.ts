import { hashWords } from '../internal/seeded-hash.ts'
import type { Slot } from './layout.ts'
import type { RecordType } from './record-type.ts'
import type { Views } from './views.ts'

/** The location of a label in a key. */
interface KeyPart {
  readonly slot: Slot
  /** First u32 word of the key. */
  readonly word: number
}

const DEAD = -1

const FOUND_MAX = 256
const FOUND = new Int32Array(FOUND_MAX)

/**
 * Numbers series by the bytes of their labels, so that a record finds its series without building text. Each pair of
 * type and source has an index. Batches usually repeat the order of the previous batch, so the next number is tried
 * first, then a hash table with a secret seed. Memory: the label bytes and about 24 bytes a series. The caller limits
 * the number of series.
 */
export class SeriesIndex {
  /** Limit of records for {@link findEach}. */
  static readonly foundMax = FOUND_MAX
  readonly #parts: readonly KeyPart[]
  readonly #words: number
  /** Offsets of the labels in a record if each label is one word; else empty. */
  readonly #offsets: Int32Array
  /** The key of the current record. */
  readonly #key: Uint32Array
  readonly #keyBytes: Uint8Array
  /** The keys of all series, in order of their numbers. */
  #keys: Uint32Array
  /** Index of each series in `#table`; `DEAD` if the number is free. */
  #places = new Int32Array(16).fill(DEAD)
  /** Open addressing: number + 1; 0 if free; `DEAD` if the series was removed. */
  #table = new Int32Array(32)
  #used = 0
  #free: number[] = []
  #high = 0
  #next = 0

  constructor(type: RecordType) {
    let word = 0
    this.#parts = type.labels.map((slot) => {
      const part = { slot, word }
      word += (slot.bytes + 3) >> 2
      return part
    })
    this.#words = word
    const areWords = type.labels.every(({ bytes, field }) => bytes === 4 && field.kind !== 'char')
    this.#offsets = Int32Array.from(areWords ? type.labels : [], ({ offset }) => offset)
    this.#key = new Uint32Array(word)
    this.#keyBytes = new Uint8Array(this.#key.buffer)
    this.#keys = new Uint32Array(word * 16)
  }

  /** Number of known series. */
  get count(): number {
    return this.#high - this.#free.length
  }

  /**
   * The number of the record's series; a new series gets one. Numbers start at 0; those of removed series are reused.
   */
  of(views: Views, offset: number): number {
    const known = this.find(views, offset)
    return known === DEAD ? this.#add() : known
  }

  /** The number of the record's series; −1 if the series is not known. */
  find(views: Views, offset: number): number {
    if (this.#next >= this.#high) this.#next = 0
    if (this.#isOf(this.#next, views, offset)) return this.#next++
    this.#load(views, offset)
    const mask = this.#table.length - 1
    for (
      let place = hashWords(this.#key, 0, this.#words) & mask;
      this.#table[place] !== 0;
      place = (place + 1) & mask
    ) {
      const id = (this.#table[place] ?? 0) - 1
      if (id >= 0 && this.#matches(id)) {
        this.#next = id + 1
        return id
      }
    }
    return DEAD
  }

  /**
   * {@link find} for `count` consecutive records, at most {@link foundMax}, in less time. The next call reuses the
   * array.
   */
  findEach(views: Views, offset: number, recordBytes: number, count: number): Int32Array {
    const { data } = views
    const [keys, places, high] = [this.#keys, this.#places, this.#high]
    const isOneWord = this.#offsets.length === 1
    let at = offset + (this.#offsets[0] ?? 0)
    let next = this.#next
    for (let i = 0; i < count; i++, at += recordBytes) {
      if (next >= high) next = 0
      if (isOneWord && next < high && keys[next] === data.getUint32(at, true) && places[next] !== DEAD) {
        FOUND[i] = next++
      } else {
        this.#next = next
        FOUND[i] = this.find(views, offset + i * recordBytes)
        next = this.#next
      }
    }
    this.#next = next
    return FOUND
  }

  /** Removes a series; its number is reused. */
  forget(id: number): void {
    const place = this.#places[id]
    if (place === undefined || place === DEAD) return
    this.#table[place] = DEAD
    this.#places[id] = DEAD
    this.#free.push(id)
  }

  /** Adds the key that `find` loaded. */
  #add(): number {
    const id = this.#free.pop() ?? this.#high++
    if (id >= this.#places.length) this.#grow()
    const at = id * this.#words
    for (let i = 0; i < this.#words; i++) this.#keys[at + i] = this.#key[i] as number
    if (++this.#used * 2 > this.#table.length) this.#rehash()
    else this.#place(id)
    this.#next = id + 1
    return id
  }

  #place(id: number): void {
    const mask = this.#table.length - 1
    let place = hashWords(this.#keys, id * this.#words, this.#words) & mask
    while ((this.#table[place] ?? 0) > 0) place = (place + 1) & mask
    this.#table[place] = id + 1
    this.#places[id] = place
  }

  #grow(): void {
    const places = new Int32Array(this.#places.length * 2).fill(DEAD)
    places.set(this.#places)
    this.#places = places
    const keys = new Uint32Array(this.#keys.length * 2)
    keys.set(this.#keys)
    this.#keys = keys
  }

  /** Rebuilds the table without removed series, and doubles it if it is still too full. */
  #rehash(): void {
    const free = new Set(this.#free)
    this.#used = this.count
    this.#table = new Int32Array(this.#used * 4 > this.#table.length ? this.#table.length * 2 : this.#table.length)
    for (let id = 0; id < this.#high; id++) if (!free.has(id)) this.#place(id)
  }

  #matches(id: number): boolean {
    const at = id * this.#words
    for (let i = 0; i < this.#words; i++) if (this.#keys[at + i] !== this.#key[i]) return false
    return true
  }

  /** Compares the key of a record with that of a known series. */
  #isOf(id: number, views: Views, offset: number): boolean {
    if (id >= this.#high || this.#places[id] === DEAD) return false
    const words = this.#offsets.length
    if (words === 0) {
      this.#load(views, offset)
      return this.#matches(id)
    }
    const { data } = views
    const at = id * words
    for (let i = 0; i < words; i++) {
      if (this.#keys[at + i] !== data.getUint32(offset + (this.#offsets[i] as number), true)) return false
    }
    return true
  }

  #load(views: Views, offset: number): void {
    for (const { slot, word } of this.#parts) {
      const at = offset + slot.offset
      if (slot.field.kind === 'char') this.#loadText(views.u8, at, slot.bytes, word)
      else if (slot.bytes === 4) this.#key[word] = views.data.getUint32(at, true)
      else this.#key[word] = slot.bytes === 2 ? views.data.getUint16(at, true) : (views.u8[at] ?? 0)
    }
  }

  /** Clears bytes behind the closing NUL: a foreign layout may have any bytes there. */
  #loadText(bytes: Uint8Array, at: number, room: number, word: number): void {
    const start = word * 4
    let length = 0
    while (length < room && bytes[at + length] !== 0) {
      this.#keyBytes[start + length] = bytes[at + length] ?? 0
      length++
    }
    this.#keyBytes.fill(0, start + length, start + ((room + 3) & ~3))
  }
}
