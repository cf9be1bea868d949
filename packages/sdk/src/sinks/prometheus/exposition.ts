import { once } from 'node:events'
import { promisify } from 'node:util'
import { constants, createGzip, gzip } from 'node:zlib'
import type { FieldSet } from '../../fieldset/fieldset.ts'
import { turn } from '../../internal/turn.ts'
import type { Slot } from '../../schema/layout.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { END_OF_OPENMETRICS, type Format } from '../../wire/prometheus/header.ts'
import type { Lent } from '../../wire/prometheus/page.ts'

/** The lines of one type in a family. */
export interface FamilyPart {
  readonly type: RecordType
  /** The fields that fill them. */
  readonly slots: readonly Slot[]
  /** The same array in both where no line differs. */
  readonly pages: Readonly<Record<Format, readonly Lent[]>>
}

/** One family as it is at one moment: its header in each format, and the pages of each type. */
export interface FamilyText {
  readonly header: Readonly<Record<Format, string>>
  readonly parts: readonly FamilyPart[]
}

/** Whole pages from this size on are passed along as they are; below, they are put together. Unit: bytes. */
const JOIN_BYTES = 8192
/** Size of one piece of text. Unit: bytes. */
const JOINED_BYTES = 64 << 10
/** Below this, one call compresses all. Unit: bytes. */
const GZIP_WHOLE_BYTES = 256 << 10
/** Size of one compressed piece. Larger buffers would stay as garbage for a long time. Unit: bytes. */
const GZIP_PART_BYTES = 64 << 10
/**
 * Limit of filters whose text is cached with the exposition; the text of other filters is made at each request.
 */
const FILTER_LIMIT = 64
const gzipWhole = promisify(gzip)

/**
 * Everything the view showed at one moment, in every format and encoding that someone asked for, each made once. Its
 * bytes are lent by the view; who is done with them calls `release`.
 */
export class Exposition {
  readonly #families: readonly FamilyText[]
  readonly #chunks: Partial<Record<Format, Promise<readonly Buffer[]>>> = {}
  readonly #gzipped: Partial<Record<Format, Promise<readonly Buffer[]>>> = {}
  readonly #filtered = new Map<FieldSet, Exposition>()
  /** The whole exposition, which owns the pages, and the filter of this part. */
  readonly #whole: Exposition | undefined
  readonly #passes: (part: FamilyPart) => boolean
  /** Number of holders: the view, and each caller of `collect`. */
  #holders = 1

  constructor(families: readonly FamilyText[], whole?: Exposition, passes: (part: FamilyPart) => boolean = () => true) {
    this.#families = families
    this.#whole = whole
    this.#passes = passes
  }

  /**
   * The part that passes a filter. It shares the pages of the whole; hold and release of the part hold and release the
   * whole.
   */
  only(filter: FieldSet): Exposition {
    const known = this.#filtered.get(filter)
    if (known !== undefined) return known
    const passes = (part: FamilyPart) => this.#passes(part) && part.slots.some((slot) => filter.of(part.type).has(slot))
    const part = new Exposition(this.#families, this.#whole ?? this, passes)
    if (this.#filtered.size < FILTER_LIMIT) this.#filtered.set(filter, part)
    return part
  }

  /**
   * The text as pieces that do not change while the exposition is held. Small pieces are joined; the work is spread
   * over turns of the event loop.
   */
  chunks(format: Format): Promise<readonly Buffer[]> {
    this.#chunks[format] ??= joined(this.#families, format, this.#passes)
    return this.#chunks[format]
  }

  /** The text compressed with gzip level 1, in the thread pool. */
  gzipped(format: Format): Promise<readonly Buffer[]> {
    this.#gzipped[format] ??= this.chunks(format).then(compress)
    return this.#gzipped[format]
  }

  /** One more reads it. */
  hold(): this {
    const owner = this.#whole ?? this
    owner.#holders++
    return this
  }

  /**
   * Ends one hold. After the last release, the view may overwrite the bytes; without it, the view copies changed pages.
   */
  release(): void {
    if (this.#whole !== undefined) {
      this.#whole.release()
      return
    }
    if (--this.#holders > 0) return
    for (const { pages } of this.#families.flatMap(({ parts }) => parts)) {
      for (const page of pages.text) page.release()
      if (pages.openmetrics !== pages.text) for (const page of pages.openmetrics) page.release()
    }
  }
}

async function joined(
  families: readonly FamilyText[],
  format: Format,
  passes: (part: FamilyPart) => boolean,
): Promise<Buffer[]> {
  const chunks: Buffer[] = []
  let small: Uint8Array[] = []
  let smallBytes = 0
  const close = () => {
    if (small.length > 0) chunks.push(Buffer.concat(small))
    small = []
    smallBytes = 0
  }
  const add = (bytes: Uint8Array) => {
    smallBytes += bytes.length
    small.push(bytes)
    if (smallBytes >= JOINED_BYTES) close()
  }
  for (const { header, parts } of families) {
    if (turn.isOver()) await turn.next()
    const shown = parts.filter(passes)
    if (shown.length > 0) add(Buffer.from(header[format]))
    for (const { bytes } of shown.flatMap(({ pages }) => pages[format])) {
      if (bytes.length < JOIN_BYTES) {
        add(bytes)
        continue
      }
      close()
      chunks.push(bytes)
    }
  }
  if (format === 'openmetrics') small.push(Buffer.from(END_OF_OPENMETRICS))
  close()
  return chunks
}

async function compress(chunks: readonly Buffer[]): Promise<readonly Buffer[]> {
  const level = constants.Z_BEST_SPEED
  if (bytesOf(chunks) < GZIP_WHOLE_BYTES) return [await gzipWhole(Buffer.concat(chunks), { level })]
  const stream = createGzip({ level, chunkSize: GZIP_PART_BYTES })
  const parts: Buffer[] = []
  stream.on('data', (part: Buffer) => parts.push(part))
  const ended = once(stream, 'end')
  for (const chunk of chunks) if (!stream.write(chunk)) await once(stream, 'drain')
  stream.end()
  await ended
  return parts
}

/** Size of pieces together. Unit: bytes. */
export function bytesOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.length, 0)
}
