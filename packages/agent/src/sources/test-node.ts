import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import {
  type Batch,
  type Labels,
  type ReadRecord,
  type RecordOf,
  type RecordType,
  readRecord,
  viewsOf,
} from '@sonde/sdk'
import type { TargetStatus } from '@sonde/sdk/api'
import { absenceType, messageOf, periodType, seriesKey } from '@sonde/sdk/internal'
import * as v from 'valibot'
import { SourceOutlet } from '../hosting/source-outlet.ts'
import type { NodeSource, Probe, SourceContext, SourceDefinition } from './source.ts'

/** A copy of fixture trees with `proc/` and `sys/`, which a test may change. It is removed at the end of the test. */
export class TestNode {
  readonly root: string
  #folder: string | undefined

  constructor(test: Pick<TestContext, 'after'>, ...trees: readonly URL[]) {
    const root = fs.mkdtempSync(join(tmpdir(), 'sonde-node-'))
    this.root = root
    for (const tree of trees) fs.cpSync(tree, root, { recursive: true, verbatimSymlinks: true })
    test.after(() => {
      fs.rmSync(root, { recursive: true, force: true })
      if (this.#folder !== undefined) fs.rmSync(this.#folder, { recursive: true })
    })
  }

  get paths(): SourceContext['paths'] {
    return { procfs: join(this.root, 'proc'), sysfs: join(this.root, 'sys'), devfs: join(this.root, 'dev') }
  }

  /** Every plain file, by its path below the root; links are not followed. */
  files(): string[] {
    return fs
      .readdirSync(this.root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.root.length + 1))
      .sort()
  }

  read(path: string): string {
    return fs.readFileSync(join(this.root, path), 'utf8')
  }

  /**
   * Writes in place, so that open descriptors read the new content; as with files of the kernel, no reader finds it
   * empty. Anything except a plain file is replaced by a plain file.
   */
  write(path: string, text: string): void {
    const place = join(this.root, path)
    fs.mkdirSync(dirname(place), { recursive: true })
    if (fs.lstatSync(place, { throwIfNoEntry: false })?.isFile() === false) fs.rmSync(place, { recursive: true })
    const file = fs.openSync(place, fs.constants.O_WRONLY | fs.constants.O_CREAT, 0o666)
    fs.ftruncateSync(file, fs.writeSync(file, text, 0))
    fs.closeSync(file)
  }

  /** Removes files or a folder; an open descriptor reads empty from then on. */
  remove(path: string): void {
    const place = join(this.root, path)
    const found = fs.lstatSync(place, { throwIfNoEntry: false })
    const files = found?.isDirectory() ? this.files().filter((file) => file.startsWith(`${path}/`)) : [path]
    if (found?.isDirectory() || found?.isFile()) for (const file of files) fs.truncateSync(join(this.root, file))
    fs.rmSync(place, { recursive: true, force: true })
  }

  /** Removes the name of a file; an open descriptor still reads its content. */
  unlink(path: string): void {
    fs.unlinkSync(join(this.root, path))
  }

  /** Replaces a file by an empty folder. */
  makeFolder(path: string): void {
    this.remove(path)
    fs.mkdirSync(join(this.root, path))
  }

  /** Replaces a file by a sparse file with many bytes. */
  makeHuge(path: string, bytes: number): void {
    this.write(path, '')
    fs.truncateSync(join(this.root, path), bytes)
  }

  /** Replaces a file by a link to a file of many equal lines, which is written once. */
  makeLong(path: string, line: string, count: number): void {
    const long = join(this.#besides(), 'long')
    if (!fs.existsSync(long)) fs.writeFileSync(long, line.repeat(count))
    this.link(path, long)
  }

  /** Replaces a file by a FIFO without a writer: a plain open would never return. */
  makeFifo(path: string): void {
    this.remove(path)
    // Links to an existing FIFO, because a new FIFO needs a process.
    fs.linkSync(this.#fifo(), join(this.root, path))
  }

  #fifo(): string {
    const fifo = join(this.#besides(), 'fifo')
    if (!fs.existsSync(fifo)) execFileSync('mkfifo', [fifo])
    return fifo
  }

  /** A folder beside the tree, for files that many files of the tree lead to. */
  #besides(): string {
    this.#folder ??= fs.mkdtempSync(`${this.root}-besides-`)
    return this.#folder
  }

  /** Open descriptors of this process inside the tree, including those of removed files. */
  openDescriptors(): string[] {
    return fs
      .readdirSync('/proc/self/fd')
      .map((descriptor) => targetOf(`/proc/self/fd/${descriptor}`))
      .filter((target) => target.startsWith(`${this.root}/`))
  }

  /** Creates a link to a file of the running kernel, for answers that plain files cannot give. */
  link(path: string, target: string): void {
    fs.rmSync(join(this.root, path), { recursive: true, force: true })
    fs.mkdirSync(dirname(join(this.root, path)), { recursive: true })
    fs.symlinkSync(target, join(this.root, path))
  }
}

/** Target of a link; empty if it is gone, like the descriptor of the listing itself. */
function targetOf(link: string): string {
  try {
    return fs.readlinkSync(link)
  } catch {
    return ''
  }
}

/** A record that a source reported. */
export interface ReportedRecord {
  readonly type: RecordType
  readonly record: ReadRecord
}

/** A source under test, with its records, absences and failures. A view may take its batches as well. */
export class TestedSource {
  /** Failed reads in order. */
  readonly failures: { place: string; message: string }[] = []
  /** Errors of single devices in the last sample. */
  thrown: unknown[] = []
  /** Records dropped because of a limit of the source, by reason. */
  readonly dropped = new Map<string, number>()
  /** Present absences: code by `type{series}.field`. A series that is gone has no entry. */
  readonly absent = new Map<string, string>()
  /** The source. One `sample` runs all duties in turn. A closed source is created again. */
  readonly source = {
    probe: async (): Promise<Probe> => (await this.#open()).probe(),
    sample: (): Promise<void> => this.#sample(),
    close: (): Promise<void> => this.#close(),
  }
  readonly #records: ReportedRecord[] = []
  readonly #outlet: SourceOutlet
  readonly #definition: SourceDefinition
  readonly #options: object
  #opening: Promise<NodeSource> | undefined
  #closeLibrary: () => unknown = () => undefined
  #isClosed = false

  constructor(
    definition: SourceDefinition,
    paths: SourceContext['paths'],
    options: object = {},
    intervalMs = definition.intervalMs,
    alsoTo: (batch: Batch) => void = () => undefined,
  ) {
    this.#definition = definition
    this.#options = v.parse(definition.options, options) as object
    const add = (place: string, error: unknown) => void this.failures.push({ place, message: messageOf(error) })
    this.#outlet = new SourceOutlet({
      ...{ name: definition.name, intervalMs, paths, stats: { failed: { add }, dropped: this.dropped } },
      emit: (batch) => {
        const { type, count, bytes, symbols } = batch
        alsoTo(batch)
        if (type === periodType) return
        const views = viewsOf(bytes)
        for (let i = 0; i < count; i++) {
          this.#records.push({ type, record: readRecord(type, views, i * type.layout.recordBytes, symbols) })
        }
      },
    })
  }

  #open(): Promise<NodeSource> {
    if (this.#isClosed) this.#opening = undefined
    this.#isClosed = false
    this.#opening ??= this.#make()
    return this.#opening
  }

  async #make(): Promise<NodeSource> {
    const { library: definition, create } = await this.#definition.load()
    const library = await definition?.open(this.#options, this.#outlet.context.paths)
    this.#closeLibrary = () => definition?.close(library)
    return create(this.#options, { ...this.#outlet.context, library })
  }

  async #close(): Promise<void> {
    const node = await (this.#opening ?? this.#open())
    await node.close()
    await this.#closeLibrary()
    this.#isClosed = true
  }

  /** Throws the error of the whole source, or of all devices. */
  async #sample(): Promise<void> {
    const node = await this.#open()
    const done = new Set<string>()
    const errors: unknown[] = []
    this.thrown = errors
    for (;;) {
      const next = node.duties().find(({ device, name }) => !done.has(`${device} ${name}`))
      if (next === undefined) break
      done.add(`${next.device} ${next.name}`)
      try {
        await next.run()
      } catch (error) {
        if (next.device === '') throw error
        errors.push(error)
      }
    }
    if (errors.length > 0 && errors.length >= done.size - 1) throw errors[0]
  }

  /** The source as its host sees it. */
  node(): Promise<NodeSource> {
    return this.#open()
  }

  /** State of its targets. */
  async targets(): Promise<readonly TargetStatus[]> {
    return (await this.#open()).targets?.() ?? []
  }

  /** Sends a command to the source. */
  async command(command: unknown): Promise<unknown> {
    return (await this.#open()).command?.(command)
  }

  /** Samples once; returns the records of one type. */
  async sampleOf<T extends RecordType>(type: T): Promise<RecordOf<T>[]> {
    await this.source.sample()
    return this.take()
      .filter((taken) => taken.type === type)
      .map(({ record }) => record as RecordOf<T>)
  }

  /** Everything reported since the last call. */
  take(): ReportedRecord[] {
    this.#outlet.source.flush()
    const taken = this.#records.splice(0)
    for (const { type, record } of taken) if (type === absenceType) this.#follow(record)
    return taken
  }

  /** The absences of one series among the given records, as `field: code`. */
  static absences(taken: readonly ReportedRecord[], labels: Labels): string[] {
    const series = seriesKey(labels)
    return taken
      .filter(({ type, record }) => type === absenceType && record.series === series)
      .map(({ record }) => `${record.field}: ${record.code}`)
  }

  #follow({ type, series, field, code }: ReadRecord): void {
    const prefix = `${type}{${series}}.`
    if (code === 'gone') {
      for (const key of this.absent.keys()) if (key.startsWith(prefix)) this.absent.delete(key)
    } else if (code === '') this.absent.delete(`${prefix}${field}`)
    else this.absent.set(`${prefix}${field}`, String(code))
  }
}
