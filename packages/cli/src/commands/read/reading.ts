import { dirname, resolve } from 'node:path'
import { type Batch, DtbDecoder, type DtbFile, openDtb, type RecordType, SondeError } from '@sonde/sdk'
import { type DtbEnd, type RecordsSource, readSidecar } from '@sonde/sdk/internal'
import type { Selection } from './select.ts'

/** Faults that are kept of one file; all are counted. */
const FAULTS_KEPT = 100

/** A stretch of a file that does not hold. Unit: bytes. */
export interface Fault {
  readonly at: number
  readonly bytes: number
  readonly code: string
  readonly message: string
}

/** Options of {@link Reading}. */
export interface ReadingOptions {
  readonly salvage: boolean
  /** Where sidecars of schemas are looked for before the usual folder. */
  readonly schemaDir?: string
  /** What of it is wanted. Default: all, and every checksum is looked at. */
  readonly selection?: Selection
}

/** One file that is being read, and what was found in it so far. */
export class Reading {
  readonly path: string
  readonly #file: DtbFile
  readonly #decoder: DtbDecoder
  readonly #selection: Selection | undefined
  readonly #gaps: Fault[] = []
  #gapCount = 0
  #end: DtbEnd | undefined
  #isUnwanted = false
  blockCount = 0
  recordCount = 0

  /** @throws SondeError `DTB_READ` if it cannot be read. */
  constructor(path: string, { salvage, schemaDir, selection }: ReadingOptions) {
    this.path = path
    this.#file = openDtb(path)
    this.#selection = selection
    const wants = selection === undefined ? {} : { wants: selection.takesBlock.bind(selection) }
    const typesOf = (fingerprint: string) => this.#typesOf(fingerprint, schemaDir)
    this.#decoder = new DtbDecoder(this.#file, { salvage, typesOf, ...wants })
  }

  /** How far it was read. Unit: bytes. */
  get at(): number {
    return this.#decoder.at
  }

  get bytes(): number {
    return this.#file.bytes
  }

  get source(): RecordsSource | undefined {
    return this.#decoder.source
  }

  /** How it ended; undefined while there is more. */
  get end(): DtbEnd | undefined {
    return this.#end
  }

  /** Whether nothing more will come of it, however long one waits. */
  get isDone(): boolean {
    return this.#isUnwanted || this.#end?.state === 'ended' || this.#end?.state === 'damaged'
  }

  /** What does not hold, at most 100 of it, and how much there is in all. */
  get faults(): { readonly kept: readonly Fault[]; readonly count: number } {
    const end = this.#end?.fault
    if (end === undefined || this.#end === undefined) return { kept: this.#gaps, count: this.#gapCount }
    const { at, ignoredBytes } = this.#end
    return { kept: [...this.#gaps, faultOf(end, at, ignoredBytes)], count: this.#gapCount + 1 }
  }

  /** The next records that are wanted, valid until the next call; undefined if there are none for now. */
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

  /** Looks whether the file has grown. */
  refresh(): void {
    this.#file.refresh()
    this.#end = this.isDone ? this.#end : undefined
  }

  close(): void {
    this.#file.close()
  }

  /** Out of a sidecar: below the root of the layout in which the file lies, or where it was said. */
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

  /** Gaps that follow each other are one. */
  #addGap(gap: Fault): void {
    const last = this.#gaps.at(-1)
    if (last !== undefined && last.at + last.bytes === gap.at && last.code === gap.code) {
      this.#gaps[this.#gaps.length - 1] = { ...last, bytes: last.bytes + gap.bytes }
      return
    }
    this.#gapCount++
    if (this.#gaps.length < FAULTS_KEPT) this.#gaps.push(gap)
  }
}

function faultOf({ code, message }: SondeError, at: number, bytes: number): Fault {
  return { at, bytes, code, message }
}
