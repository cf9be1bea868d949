import { once } from 'node:events'
import { promisify } from 'node:util'
import { constants, createGzip, gzip } from 'node:zlib'
import { END_OF_OPENMETRICS, type Format } from '../../wire/prometheus/header.ts'
import { yieldTurn } from './slices.ts'

/** One family as it is at one moment: its header in each format and its pages, whose bytes never change. */
export interface FamilyText {
  readonly header: Readonly<Record<Format, string>>
  readonly pages: Readonly<Record<Format, readonly Uint8Array[]>>
}

/** Whole pages from this size on are passed along as they are; below, they are put together. Unit: bytes. */
const JOIN_BYTES = 8192
/** Below this, one call compresses all. Unit: bytes. */
const GZIP_WHOLE_BYTES = 256 << 10
const COPY_BYTES_A_TURN = 2 << 20
const gzipWhole = promisify(gzip)

/** Everything the view showed at one moment, in every format and encoding that someone asked for, each made once. */
export class Exposition {
  readonly #families: readonly FamilyText[]
  readonly #chunks: Partial<Record<Format, readonly Buffer[]>> = {}
  readonly #plain: Partial<Record<Format, Promise<Buffer>>> = {}
  readonly #gzipped: Partial<Record<Format, Promise<Buffer>>> = {}

  constructor(families: readonly FamilyText[]) {
    this.#families = families
  }

  /** The text as pieces that never change: large ones as they are kept, small ones joined. */
  chunks(format: Format): readonly Buffer[] {
    this.#chunks[format] ??= this.#join(format)
    return this.#chunks[format]
  }

  /** Size of the text. Unit: bytes. */
  bytes(format: Format): number {
    return bytesOf(this.chunks(format))
  }

  /** The text in one piece. */
  plain(format: Format): Promise<Buffer> {
    this.#plain[format] ??= concatenate(this.chunks(format))
    return this.#plain[format]
  }

  /** The text compressed with gzip level 1, in the thread pool. */
  gzipped(format: Format): Promise<Buffer> {
    this.#gzipped[format] ??= compress(this.chunks(format))
    return this.#gzipped[format]
  }

  #join(format: Format): Buffer[] {
    const chunks: Buffer[] = []
    let small: Uint8Array[] = []
    const close = () => {
      if (small.length > 0) chunks.push(Buffer.concat(small))
      small = []
    }
    for (const { header, pages } of this.#families) {
      small.push(Buffer.from(header[format]))
      for (const page of pages[format]) {
        if (page.length < JOIN_BYTES) {
          small.push(page)
          continue
        }
        close()
        chunks.push(page as Buffer)
      }
    }
    if (format === 'openmetrics') small.push(Buffer.from(END_OF_OPENMETRICS))
    close()
    return chunks
  }
}

async function concatenate(chunks: readonly Buffer[]): Promise<Buffer> {
  const [only] = chunks
  if (only !== undefined && chunks.length === 1) return only
  const whole = Buffer.allocUnsafeSlow(bytesOf(chunks))
  let at = 0
  let turnEnd = COPY_BYTES_A_TURN
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
    if (at < turnEnd) continue
    turnEnd = at + COPY_BYTES_A_TURN
    await yieldTurn()
  }
  return whole
}

async function compress(chunks: readonly Buffer[]): Promise<Buffer> {
  const level = constants.Z_BEST_SPEED
  if (bytesOf(chunks) < GZIP_WHOLE_BYTES) return gzipWhole(Buffer.concat(chunks), { level })
  const stream = createGzip({ level, chunkSize: 256 << 10 })
  const parts: Buffer[] = []
  stream.on('data', (part: Buffer) => parts.push(part))
  const ended = once(stream, 'end')
  for (const chunk of chunks) if (!stream.write(chunk)) await once(stream, 'drain')
  stream.end()
  await ended
  return Buffer.concat(parts)
}

function bytesOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.length, 0)
}
