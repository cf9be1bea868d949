import { SondeError } from '@sonde/sdk'
import type { FieldAbsences } from '../field-absences.ts'
import { type KernelFile, ReadFailure } from '../kernel-file.ts'
import type { SourceContext } from '../source.ts'
import { parseCpuList, parseLabel } from './parse-sysfs.ts'

/** What a file holds, or what is wrong with it: the end of a sentence that starts with its path. */
export type Parse<T> = (bytes: Uint8Array) => T | string

/** A part of the host source that has state of its own between sweeps. */
export interface HostPart {
  /** Reads and reports; whether anything could be read. */
  sample(time: bigint): boolean
}

/** Why a file gives no value. */
export class NoValue {
  readonly code: ReadFailure['code']
  readonly reason: string

  constructor(code: ReadFailure['code'], reason: string) {
    this.code = code
    this.reason = reason
  }
}

/** Reads the files of one sweep, and remembers what failed first: what the sweep throws when nothing at all was read. */
export class HostReader {
  failure: Error | undefined
  readonly #context: SourceContext

  constructor(context: SourceContext) {
    this.#context = context
  }

  /** What a file holds; where it gives nothing, the absences of what is made of it say why. */
  read<T extends object>(
    file: KernelFile,
    absences: readonly FieldAbsences[],
    parse: Parse<T>,
    explain: (failure: ReadFailure, file: KernelFile) => string = ({ error }) => error.message,
  ): T | undefined {
    const bytes = file.read()
    if (bytes instanceof ReadFailure) {
      this.#refused(file.path, bytes)
      for (const each of absences) each.absent('', bytes.code, explain(bytes, file))
      return undefined
    }
    const parsed = parse(bytes)
    if (typeof parsed === 'string') {
      const reason = this.wrong(file, parsed)
      for (const each of absences) each.absent('', 'failed', reason)
      return undefined
    }
    for (const each of absences) each.present('')
    return parsed
  }

  /** What a file holds that makes one field of a record. */
  field<T extends number | bigint | string>(
    file: KernelFile,
    absences: FieldAbsences,
    name: string,
    parse: (bytes: Uint8Array) => T | undefined,
  ): T | undefined {
    const value = this.value(file, parse)
    if (value instanceof NoValue) {
      absences.absent(name, value.code, value.reason)
      return undefined
    }
    absences.present(name)
    return value
  }

  /** What a file holds, or why it gives nothing. */
  value<T extends number | bigint | string>(
    file: KernelFile,
    parse: (bytes: Uint8Array) => T | undefined,
  ): T | NoValue {
    const bytes = file.read()
    if (bytes instanceof ReadFailure) {
      this.#refused(file.path, bytes)
      return new NoValue(bytes.code, bytes.error.message)
    }
    const value = parse(bytes)
    return value ?? new NoValue('failed', this.wrong(file, 'holds something else than expected'))
  }

  /** A line of text that the kernel lists, and so must give; the file is closed again. */
  text(file: KernelFile): string | undefined {
    const bytes = file.read()
    file.close()
    const line = bytes instanceof ReadFailure ? undefined : parseLabel(bytes)
    if (line === undefined) this.wrong(file, 'gives no name')
    return line
  }

  /** Numbers of CPUs that the kernel lists, and so must give: `0-55,112-167`. */
  list(file: KernelFile): number[] | undefined {
    const bytes = file.read()
    const list = bytes instanceof ReadFailure ? undefined : parseCpuList(bytes)
    if (list === undefined) this.wrong(file, 'gives no list of CPUs')
    return list
  }

  /** Counts a file that holds what it should not; the whole sentence. */
  wrong(file: KernelFile, what: string): string {
    const error = new SondeError('SRC_READ', `${file.path} ${what}`)
    this.failure ??= error
    this.#context.failed(file.path, error)
    return error.message
  }

  #refused(path: string, { kind, error }: ReadFailure): void {
    this.failure ??= error
    if (kind === 'failed') this.#context.failed(path, error)
  }
}
