import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import {
  Absences,
  absenceType,
  createSource,
  messageOf,
  type ReadRecord,
  type RecordOf,
  type RecordType,
  readRecord,
  seriesKey,
  viewsOf,
} from '@sonde/sdk'
import * as v from 'valibot'
import type { NodeSource, SourceContext, SourceDefinition } from './source.ts'

/** A copy of fixture trees, with `proc/` and `sys/` in it, that a test may change. Removed when the test ends. */
export class TestNode {
  readonly root: string

  constructor(test: Pick<TestContext, 'after'>, ...trees: readonly URL[]) {
    const root = fs.mkdtempSync(join(tmpdir(), 'sonde-node-'))
    this.root = root
    for (const tree of trees) fs.cpSync(tree, root, { recursive: true })
    test.after(() => fs.rmSync(root, { recursive: true, force: true }))
  }

  get paths(): SourceContext['paths'] {
    return { procfs: join(this.root, 'proc'), sysfs: join(this.root, 'sys') }
  }

  /** Every file, by its path below the root. */
  files(): string[] {
    return fs
      .readdirSync(this.root, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.root.length + 1))
      .sort()
  }

  read(path: string): string {
    return fs.readFileSync(join(this.root, path), 'utf8')
  }

  /** Writes in place, as the kernel changes what an open descriptor reads. */
  write(path: string, text: string): void {
    fs.mkdirSync(dirname(join(this.root, path)), { recursive: true })
    fs.writeFileSync(join(this.root, path), text)
  }

  /** Takes files away, one or a folder; a descriptor that is still open reads empty from then on. */
  remove(path: string): void {
    for (const file of this.files()) {
      if (file === path || file.startsWith(`${path}/`)) fs.truncateSync(join(this.root, file))
    }
    fs.rmSync(join(this.root, path), { recursive: true, force: true })
  }

  /** Puts a link to a file of the running kernel in a place, for what plain files cannot answer. */
  link(path: string, target: string): void {
    fs.rmSync(join(this.root, path), { recursive: true, force: true })
    fs.mkdirSync(dirname(join(this.root, path)), { recursive: true })
    fs.symlinkSync(target, join(this.root, path))
  }
}

/** A source in the hands of a test: what it reports, says to be absent, and counts as failed. */
export class TestedSource {
  readonly source: NodeSource
  /** Places of failed reads, in order. */
  readonly failures: { place: string; message: string }[] = []
  readonly #records: { type: RecordType; record: ReadRecord }[] = []
  readonly #flush: () => void

  constructor(definition: SourceDefinition, paths: SourceContext['paths'], options: object = {}) {
    const source = createSource({
      id: definition.name,
      emit: ({ type, count, bytes, source: { symbols } }) => {
        const views = viewsOf(bytes)
        for (let i = 0; i < count; i++) {
          this.#records.push({ type, record: readRecord(type, views, i * type.layout.recordBytes, symbols) })
        }
      },
    })
    this.#flush = () => source.flush()
    this.source = definition.create(v.parse(definition.options, options), {
      name: definition.name,
      source,
      absences: new Absences(source),
      paths,
      failed: (place, error) => this.failures.push({ place, message: messageOf(error) }),
    })
  }

  /** Samples once; the records of one type. */
  async sampleOf<T extends RecordType>(type: T): Promise<RecordOf<T>[]> {
    await this.source.sample()
    return this.take()
      .filter((taken) => taken.type === type)
      .map(({ record }) => record as RecordOf<T>)
  }

  /** Everything reported since the last call. */
  take(): { type: RecordType; record: ReadRecord }[] {
    this.#flush()
    return this.#records.splice(0)
  }

  /** The absence records among those given, as `field: code`, of one series. */
  static absences(
    taken: readonly { type: RecordType; record: ReadRecord }[],
    labels: Record<string, string>,
  ): string[] {
    const series = seriesKey(labels)
    return taken
      .filter(({ type, record }) => type === absenceType && record.series === series)
      .map(({ record }) => `${record.field}: ${record.code}`)
  }
}
