import { wallNs } from '@sonde/sdk'
import type { Integer64 } from '@sonde/sdk/internal'
import type { AttributeReader } from '../attribute-reader.ts'
import { type KernelFiles, ReadFailure } from '../kernel-file.ts'
import type { Reading } from '../wide-counter.ts'
import { CounterFile } from './counter-file.ts'
import type { CounterForm } from './names.ts'

/** Which counters to read: those of every sweep, or those that have turns. */
export type Share = 'telling' | 'rest'

/**
 * Where the counters of a share go: the record of a type, which is used again at every sweep, and what is said of the
 * fields that it lacks.
 */
export interface CounterPart<F extends string> {
  readonly record: { [K in F]?: Integer64 | undefined }
  readonly attributes: AttributeReader
}

/** A folder, and how the files in it are read. */
export interface CounterLocation<F extends string> {
  readonly path: readonly string[]
  readonly forms: ReadonlyMap<string, CounterForm<F>>
}

/** How a {@link CounterFolder} reads. */
export interface CounterFolderOptions<F extends string> {
  /** That of a {@link CounterFile}. */
  readonly pauseReadsMax?: number
  /** Where fields are looked for that the folder has no file of. Default: nowhere. */
  readonly beside?: CounterLocation<F>
}

/** The counters that one folder of sysfs holds, by their names. */
export class CounterFolder<F extends string> {
  readonly #path: readonly string[]
  readonly #forms: ReadonlyMap<string, CounterForm<F>>
  readonly #sysfs: KernelFiles
  readonly #parts: Readonly<Record<Share, CounterPart<F>>>
  readonly #files = new Map<string, CounterFile<F>>()
  readonly #pauseReadsMax: number | undefined
  readonly #beside: CounterLocation<F> | undefined
  #shares: Readonly<Record<Share, readonly CounterFile<F>[]>> = { telling: [], rest: [] }
  /** When each share was read, where that was not reported yet. Unit: nanoseconds since the Unix epoch. */
  readonly #readNs: Record<Share, bigint | undefined> = { telling: undefined, rest: undefined }
  /** Left out after a change, until it is asked for. */
  #saturated: readonly string[] | undefined
  /** Whether any file of the last reading was there. */
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

  /** Looks which counters there are. The names that it does not know, or why it could not look. */
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
      telling: files.filter(({ form }) => shareOf(form) === 'telling'),
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

  /** Says of each counter of a share that there is none why: what the last look came to. */
  tellLacks(share: Share, looked: string[] | ReadFailure): void {
    const { absences } = this.#parts[share].attributes
    const failure = looked instanceof ReadFailure && looked.kind !== 'missing' ? looked : undefined
    // A file beside says itself that the field is there, when it is read.
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

  /** How many counters of a share there are. */
  count(share: Share): number {
    return this.#shares[share].length
  }

  /**
   * When a share was read since this was last asked, which is when its record is one of its own; `undefined` where it
   * was not. Unit: nanoseconds since the Unix epoch.
   */
  takeReadNs(share: Share): bigint | undefined {
    const readNs = this.#readNs[share]
    this.#readNs[share] = undefined
    return readNs
  }

  /** Reads a share of the counters. Whether all that are listed are still there. */
  read(share: Share, reading: Reading): boolean {
    const files = this.#shares[share]
    const { record } = this.#parts[share]
    this.#readNs[share] = wallNs()
    let missing = 0
    for (const file of files) {
      const before = file.saturated
      if (file.read(reading) === 'missing') missing++
      if (file.saturated !== before) this.#saturated = undefined
      record[file.form.field] = file.value
    }
    if (files.length > 0) this.there = missing < files.length
    return missing === 0
  }

  /** Names of the counters that stand at the most that they can hold. */
  get saturated(): readonly string[] {
    this.#saturated ??= [...this.#files.values()].filter((file) => file.saturated).map(({ name }) => name)
    return this.#saturated
  }

  /** Forgets what was read: it is another device's. */
  clear(): void {
    this.close()
    this.#saturated = undefined
    this.#files.clear()
    for (const form of this.#forms.values()) this.#forget(form)
    Object.assign(this.#readNs, { telling: undefined, rest: undefined })
  }

  /** Closes the files that have turns: with very many ports there are more than may be open. */
  closeRest(): void {
    for (const file of this.#shares.rest) file.close()
  }

  close(): void {
    for (const file of this.#files.values()) file.close()
  }

  #add(path: readonly string[], name: string, form: CounterForm<F>): void {
    const file = this.#sysfs.file(...path, name)
    const { attributes } = this.#parts[shareOf(form)]
    // What another file gave is no value of this one.
    this.#forget(form)
    this.#files.set(name, new CounterFile(name, form, file, attributes, form.field, this.#pauseReadsMax))
  }

  #drop(name: string): void {
    this.#files.get(name)?.close()
    this.#files.delete(name)
  }

  #forget(form: CounterForm<F>): void {
    this.#parts[shareOf(form)].record[form.field] = undefined
  }
}

function shareOf({ telling }: CounterForm<string>): Share {
  return telling === true ? 'telling' : 'rest'
}
