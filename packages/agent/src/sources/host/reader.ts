import { type Labels, type RecordType, SondeError } from '@sonde/sdk'
import { AttributeReader, type ExplainFailure } from '../attribute-reader.ts'
import { FieldAbsences, Lack } from '../field-absences.ts'
import { type KernelFile, KernelFiles, ReadFailure } from '../kernel-file.ts'
import type { SourceContext } from '../source.ts'
import { parseCpuList, parseLabel } from './parse-sysfs.ts'
import { StatFile } from './stat-file.ts'

/** What a file holds, or what is wrong with it: the end of a sentence that starts with its path. */
export type ParseFile<T> = (bytes: Uint8Array) => T | string

/**
 * Reads the files of one sweep for all parts, and remembers what failed first: what the sweep throws when nothing at
 * all was read.
 */
export class HostReader {
  failure: Error | undefined
  readonly context: SourceContext
  readonly procfs: KernelFiles
  readonly sysfs: KernelFiles
  /** What several parts are made of. */
  readonly stat: StatFile

  constructor(context: SourceContext) {
    this.context = context
    this.procfs = new KernelFiles(context.paths.procfs, { remembersMissing: true })
    this.sysfs = new KernelFiles(context.paths.sysfs)
    this.stat = new StatFile(this)
  }

  /** Says what of a series is absent; without labels of every series of the type. */
  absences(type: RecordType, labels?: Labels): FieldAbsences {
    return new FieldAbsences(this.context.absences, type, labels)
  }

  /** Reads the fields of a series that are a file each. */
  attributes(type: RecordType, labels?: Labels): AttributeReader {
    return new AttributeReader(this, this.absences(type, labels), ({ error, words }) => {
      this.failure ??= error
      return words
    })
  }

  /** What a file holds that makes more than one field, or why it gives nothing. */
  value<T extends object>(
    file: KernelFile,
    parse: ParseFile<T>,
    explain: ExplainFailure = ({ words }) => words,
  ): T | Lack {
    const bytes = file.read()
    if (bytes instanceof ReadFailure) {
      this.failure ??= bytes.error
      if (bytes.kind === 'failed') this.failed(file.path, bytes.error)
      return new Lack(bytes.code, explain(bytes, file))
    }
    const parsed = parse(bytes)
    return typeof parsed === 'string' ? this.wrong(file, parsed) : parsed
  }

  /** The same where nobody is told why it gives nothing. */
  read<T extends object>(file: KernelFile, parse: ParseFile<T>): T | undefined {
    const found = this.value(file, parse)
    return found instanceof Lack ? undefined : found
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

  /** Counts a file that holds what it should not; `what` ends a sentence that starts with its path. */
  wrong(file: KernelFile, what: string): Lack {
    const error = new SondeError('SRC_READ', `${file.path} ${what}`)
    this.failed(file.path, error)
    return new Lack('failed', error.message)
  }

  /** Counts a line that cannot be read, and is left out. */
  malformed(file: KernelFile, line: string): void {
    this.wrong(file, `holds a line that cannot be read: ${JSON.stringify(line)}`)
  }

  /** Counts a failed read. */
  failed(place: string, error: Error): void {
    this.failure ??= error
    this.context.failed(place, error)
  }

  close(): void {
    this.procfs.close()
    this.sysfs.close()
  }
}
