import { closeSync, openSync, writeSync } from 'node:fs'
import { PRIVATE_FILE_MODE } from '@sonde/sdk/internal'
import {
  encodeSample,
  encodeSamplesHeader,
  type FileSample,
  type SampleFileHeader,
  sampleBytes,
  samplesFault,
} from './samples-format.ts'

/** Size of the write buffer. Unit: bytes. */
const BUFFER_BYTES = 1024 * 1024

/** Writes a file of samples. The newest samples are buffered until {@link close}. */
export class SamplesWriter {
  readonly #path: string
  readonly #sampleBytes: number
  readonly #values: number
  readonly #buffer: Buffer
  #file: number | undefined
  #used = 0

  /**
   * Creates or empties the file.
   * @throws SondeError `TRB_SAMPLES` if it cannot be written.
   */
  constructor(path: string, header: SampleFileHeader) {
    this.#path = path
    this.#values = header.dataIds.length
    this.#sampleBytes = sampleBytes(this.#values)
    this.#buffer = Buffer.alloc(Math.max(BUFFER_BYTES, this.#sampleBytes))
    try {
      this.#file = openSync(path, 'w', PRIVATE_FILE_MODE)
    } catch (cause) {
      throw samplesFault(path, String(cause), cause)
    }
    this.#write(encodeSamplesHeader(header))
  }

  /**
   * @throws SondeError `TRB_SAMPLES` if the number of values differs from the number of data IDs, or the file cannot be
   * written.
   */
  put(sample: FileSample): void {
    if (sample.values.length !== this.#values)
      throw samplesFault(this.#path, `a sample of ${sample.values.length} values; allowed: ${this.#values}`)
    if (this.#used + this.#sampleBytes > this.#buffer.length) this.#flush()
    encodeSample(this.#buffer, this.#used, sample)
    this.#used += this.#sampleBytes
  }

  /** May be called twice. */
  close(): void {
    if (this.#file === undefined) return
    this.#flush()
    closeSync(this.#file)
    this.#file = undefined
  }

  #flush(): void {
    this.#write(this.#buffer.subarray(0, this.#used))
    this.#used = 0
  }

  #write(bytes: Uint8Array): void {
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#file as number, bytes, at)
    } catch (cause) {
      throw samplesFault(this.#path, String(cause), cause)
    }
  }
}
