import { wallNs } from '@sonde/sdk'
import type { Integer64 } from '@sonde/sdk/internal'
import type { AttributeReader } from '../attribute-reader.ts'
import { type KernelFiles, ReadFailure } from '../kernel-file.ts'
import type { CounterReading } from '../wide-counter.ts'
import { CounterFile } from './counter-file.ts'
import type { CounterForm } from './names.ts'

/** A share of the counters: `frequent` is read in every sweep, `rest` in turns. */
export type Share = 'frequent' | 'rest'

/** Destination of the counters of a share: its record, which every sweep reuses, and the absences of its fields. */
export interface CounterPart<F extends string> {
  readonly record: { [K in F]?: Integer64 | undefined }
  readonly attributes: AttributeReader
}

/** A folder, and the form of each file in it. */
export interface CounterLocation<F extends string> {
  readonly path: readonly string[]
  readonly forms: ReadonlyMap<string, CounterForm<F>>
}

/** Options of {@link CounterFolder}. */
export interface CounterFolderOptions<F extends string> {
  /** See {@link CounterFile}. */
  readonly pauseReadsMax?: number
  /** A second folder for fields that the first has no file for. Default: none. */
  readonly beside?: CounterLocation<F>
}

/** The counters in one folder of sysfs, by name. */
export class CounterFolder<F extends string> {
  readonly #path: readonly string[]
  readonly #forms: ReadonlyMap<string, CounterForm<F>>
  readonly #sysfs: KernelFiles
  readonly #parts: Readonly<Record<Share, CounterPart<F>>>
  readonly #files = new Map<string, CounterFile<F>>()
  readonly #pauseReadsMax: number | undefined
  readonly #beside: CounterLocation<F> | undefined
  #shares: Readonly<Record<Share, readonly CounterFile<F>[]>> = { frequent: [], rest: [] }
  /** When each share was last read, until it is reported. Unit: nanoseconds since the Unix epoch. */
  readonly #readNs: Record<Share, bigint | undefined> = { frequent: undefined, rest: undefined }
  /** Undefined after a change, until it is computed again. */
  #saturated: readonly string[] | undefined
  /** Whether any file of the last reading existed. */
  there = false

  constructor(
    path: readonly string[],
    forms: ReadonlyMap<string, CounterForm<F>>,
    sysfs: KernelFiles,
    parts: Readonly<Record<Share, CounterPart<F>>>,
    { pauseReadsMax, beside }: CounterFolderOptions<F> = {},
  ) {
    this.#pauseReadsMax = pauseReadsMax
    this.#beside = beside
    this.#path = path
    this.#forms = forms
    this.#sysfs = sysfs
    this.#parts = parts
  }

  /** Lists the counters. Returns the unknown names, or why the folder could not be listed. */
  scan(): string[] | ReadFailure {
    this.#saturated = undefined
    const listed = this.#sysfs.list(...this.#path)
    const names = new Set(listed instanceof ReadFailure ? [] : listed)
    for (const [name, form] of this.#forms) {
      if (!names.delete(name)) this.#drop(name)
      else if (!this.#files.has(name)) this.#add(this.#path, name, form)
    }
    this.#scanBeside()
    const given = new Set([...this.#files.values()].map(({ form: { field } }) => field))
    for (const form of this.#forms.values()) if (!given.has(form.field)) this.#forget(form)
    const files = [...this.#files.values()]
    this.#shares = {
      frequent: files.filter(({ form }) => shareOf(form) === 'frequent'),
      rest: files.filter(({ form }) => shareOf(form) === 'rest'),
    }
    return listed instanceof ReadFailure ? listed : [...names].sort()
  }

  #scanBeside(): void {
    if (this.#beside === undefined) return
    const { path, forms } = this.#beside
    const own = new Set([...this.#forms].flatMap(([name, { field }]) => (this.#files.has(name) ? [field] : [])))
    const isWanted = [...forms.values()].some(({ field }) => !own.has(field))
    const listed = isWanted ? this.#sysfs.list(...path) : []
    for (const [name, form] of forms) {
      const isThere = !own.has(form.field) && !(listed instanceof ReadFailure) && listed.includes(name)
      if (!isThere) this.#drop(name)
      else if (!this.#files.has(name)) this.#add(path, name, form)
    }
  }

  /** Reports each missing counter of a share as absent, with the result of the last scan as its reason. */
  reportAbsent(share: Share, scanned: string[] | ReadFailure): void {
    const { absences } = this.#parts[share].attributes
    const failure = scanned instanceof ReadFailure && scanned.kind !== 'missing' ? scanned : undefined
    // A field with a value from the second folder is not absent.
    const given = new Set(
      [...this.#files.values()].flatMap(({ form, value }) => (value === undefined ? [] : [form.field])),
    )
    for (const [name, form] of this.#forms) {
      const { field } = form
      if (shareOf(form) !== share || this.#files.has(name) || given.has(field)) continue
      if (failure !== undefined) absences.absent(field, failure.code, failure.words)
      else absences.absent(field, 'unsupported', `the driver has no ${name} of this port`)
    }
  }

  /** Returns the number of counters of a share. */
  count(share: Share): number {
    return this.#shares[share].length
  }

  /**
   * Returns when a share was read since the last call, as the time of its record; undefined if it was not read. Unit:
   * nanoseconds since the Unix epoch.
   */
  takeReadNs(share: Share): bigint | undefined {
    const readNs = this.#readNs[share]
    this.#readNs[share] = undefined
    return readNs
  }

  /** Reads a share of the counters. Returns false if a listed file is missing. */
  read(share: Share, reading: CounterReading): boolean {
    const files = this.#shares[share]
    const { record } = this.#parts[share]
    this.#readNs[share] = wallNs()
    let missing = 0
    let startMs = performance.now()
    for (const file of files) {
      if (!file.isDue(startMs)) continue
      const before = file.saturated
      if (file.read(reading) === 'missing') missing++
      if (file.saturated !== before) this.#saturated = undefined
      record[file.form.field] = file.value
      const endMs = performance.now()
      file.note(endMs - startMs, endMs)
      startMs = endMs
    }
    if (files.length > 0) this.there = missing < files.length
    return missing === 0
  }

  /** Names of the counters that stand at their maximum. */
  get saturated(): readonly string[] {
    this.#saturated ??= [...this.#files.values()].filter((file) => file.saturated).map(({ name }) => name)
    return this.#saturated
  }

  /** Forgets all values, because another device has the name now. */
  clear(): void {
    for (const file of this.#files.values()) file.forget()
    this.#saturated = undefined
    this.#files.clear()
    for (const form of this.#forms.values()) this.#forget(form)
    Object.assign(this.#readNs, { frequent: undefined, rest: undefined })
  }

  /** Closes the files of the counters that are read in turns: with very many ports, too many files would stay open. */
  closeRest(): void {
    for (const file of this.#shares.rest) file.close()
  }

  close(): void {
    for (const file of this.#files.values()) file.close()
  }

  #add(path: readonly string[], name: string, form: CounterForm<F>): void {
    const file = this.#sysfs.file(...path, name)
    const { attributes } = this.#parts[shareOf(form)]
    // The value of another file is not a value of this file.
    this.#forget(form)
    this.#files.set(name, new CounterFile(name, form, file, attributes, form.field, this.#pauseReadsMax))
  }

  #drop(name: string): void {
    this.#files.get(name)?.forget()
    this.#files.delete(name)
  }

  #forget(form: CounterForm<F>): void {
    this.#parts[shareOf(form)].record[form.field] = undefined
  }
}

function shareOf({ frequent }: CounterForm<string>): Share {
  return frequent === true ? 'frequent' : 'rest'
}
