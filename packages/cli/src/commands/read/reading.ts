import { dirname, resolve } from 'node:path'
import { type Batch, DtbDecoder, type DtbFile, openDtb, type RecordType, SondeError } from '@sonde/sdk'
import { type DtbEnd, type RecordsSource, readSidecar } from '@sonde/sdk/internal'
import type { Selection } from './select.ts'

/** Faults that are listed for each file; all are counted. */
const FAULTS_KEPT = 100

/** A damaged range of a file. Unit: bytes. */
export interface FileFault {
  readonly at: number
  readonly bytes: number
  readonly code: string
  readonly message: string
}

/** Options of {@link FileReading}. */
export interface ReadingOptions {
  readonly salvage: boolean
  /** Folder that is searched for schema files before the usual folder. */
  readonly schemaDir?: string
  /** The selected records. Default: all, and every checksum is verified. */
  readonly selection?: Selection
}

/** A file that is being read, and what was found in it so far. */
export class FileReading {
  readonly path: string
  readonly #file: DtbFile
  readonly #decoder: DtbDecoder
  readonly #selection: Selection | undefined
  readonly #gaps: FileFault[] = []
  #gapCount = 0
  #end: DtbEnd | undefined
  #isUnwanted = false
  blockCount = 0
  recordCount = 0

  /** @throws SondeError `DTB_READ` if the file cannot be read. */
  constructor(path: string, { salvage, schemaDir, selection }: ReadingOptions) {
    this.path = path
    this.#file = openDtb(path)
    this.#selection = selection
    const wants = selection === undefined ? {} : { wants: selection.takesBlock.bind(selection) }
    const typesOf = (fingerprint: string) => this.#typesOf(fingerprint, schemaDir)
    this.#decoder = new DtbDecoder(this.#file, { salvage, typesOf, ...wants })
  }

  /** Position of the reader. Unit: bytes. */
  get at(): number {
    return this.#decoder.at
  }

  get bytes(): number {
    return this.#file.bytes
  }

  get source(): RecordsSource | undefined {
    return this.#decoder.source
  }

  /** How the file ended; undefined while there is more. */
  get end(): DtbEnd | undefined {
    return this.#end
  }

  /** Whether the file can have no more records, even after a wait. */
  get isDone(): boolean {
    return this.#isUnwanted || this.#end?.state === 'ended' || this.#end?.state === 'damaged'
  }

  /** Damaged ranges, at most 100, and their total. */
  get faults(): { readonly kept: readonly FileFault[]; readonly count: number } {
    const end = this.#end?.fault
    if (end === undefined || this.#end === undefined) return { kept: this.#gaps, count: this.#gapCount }
    const { at, ignoredBytes } = this.#end
    return { kept: [...this.#gaps, faultOf(end, at, ignoredBytes)], count: this.#gapCount + 1 }
  }

  /** The next selected records, valid until the next call; undefined if there are none for now. */
  next(): Batch | undefined {
    while (!this.isDone) {
      const step = this.#decoder.next()
      if (step.kind === 'stop') {
        this.#end = step.end
        return undefined
      }
      if (step.kind === 'gap') {
        this.#addGap(faultOf(step.fault, step.at, step.to - step.at))
        continue
      }
      this.blockCount++
      if (step.kind === 'records') {
        this.recordCount += step.batch.count
        if (this.#selection?.takesSource(step.batch.source) !== false) return step.batch
      }
      if (this.source !== undefined && this.source.hasOrigins !== true)
        this.#isUnwanted = this.#selection?.takesSource(this.source) === false
    }
    return undefined
  }

  /** Checks whether the file has grown. */
  refresh(): void {
    this.#file.refresh()
    this.#end = this.isDone ? this.#end : undefined
  }

  close(): void {
    this.#file.close()
  }

  /** Reads the schema from a sidecar: in the given folder, or below the root of the layout of the file. */
  #typesOf(fingerprint: string, schemaDir: string | undefined): readonly RecordType[] | undefined {
    const usual = resolve(dirname(this.path), '..', '..', '..', 'schema')
    const folders = [...new Set([...(schemaDir === undefined ? [] : [resolve(schemaDir)]), usual])]
    const at = this.#decoder.at
    for (const folder of folders) {
      try {
        const types = readSidecar(folder, fingerprint)
        if (types !== undefined) return types
      } catch (error) {
        if (!(error instanceof SondeError)) throw error
        this.#addGap(faultOf(error, at, 0))
      }
    }
    const place = `schema_${fingerprint}.json is not in ${folders.join(' or ')}; give its folder with --schema-dir`
    this.#addGap({ at, bytes: 0, code: 'DTB_SCHEMA', message: `the types are lost: ${place}` })
    return undefined
  }

  /** Adjacent gaps are merged. */
  #addGap(gap: FileFault): void {
    const last = this.#gaps.at(-1)
    if (last !== undefined && last.at + last.bytes === gap.at && last.code === gap.code) {
      this.#gaps[this.#gaps.length - 1] = { ...last, bytes: last.bytes + gap.bytes }
      return
    }
    this.#gapCount++
    if (this.#gaps.length < FAULTS_KEPT) this.#gaps.push(gap)
  }
}

function faultOf({ code, message }: SondeError, at: number, bytes: number): FileFault {
  return { at, bytes, code, message }
}
