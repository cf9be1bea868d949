// What tests did, file by file, from the events of node:test of a process that runs several files.

import { inspect } from 'node:util'

/** How many tests ended how. A test that has tests inside is not counted itself, unless it fails by itself. */
export interface Counts {
  passed: number
  failed: number
  skipped: number
}

/** The result of one file. */
export interface FileResult extends Counts {
  file: string
  durationMs: number
  /** Every failure in full, as text. */
  failures: string[]
  /** Names of the tests that were skipped, with their reasons. */
  skips: string[]
  /** What tests said through `t.diagnostic()`, such as the seed of a run. */
  notes: string[]
  /** What the file printed. */
  output: string
}

/** The shape of the events of node:test that is used here. */
export interface Outcome {
  name: string
  nesting: number
  skip?: string | boolean
  todo?: string | boolean
  details: { type?: string; error?: { failureType?: string; cause?: unknown } }
}

/** How results are taken. */
export interface ResultsOptions {
  /** Whether a file may be without tests, as where only some are asked for. */
  readonly mayBeEmpty: boolean
  /** Called when a file has ended. */
  readonly onFile: (result: FileResult) => void
}

/** Takes the events of a process whose files are its suites. Those of a file come before the event of its suite. */
export class TestResults {
  /** Names of tests and suites that have begun and not ended. */
  readonly running = new Set<string>()
  readonly #files: readonly string[]
  readonly #mayBeEmpty: boolean
  readonly #onFile: (result: FileResult) => void
  #endedCount = 0
  /** The file whose events come now. */
  #current: FileResult
  /** The names of the tests around the current one are not known before they end, so its children wait here. */
  #childCounts: number[] = []
  #startedMs = performance.now()

  constructor(files: readonly string[], { mayBeEmpty, onFile }: ResultsOptions) {
    this.#files = files
    this.#mayBeEmpty = mayBeEmpty
    this.#onFile = onFile
    this.#current = emptyResult(files[0])
  }

  /** What a test noted. */
  note(message: string): void {
    this.#current.notes.push(message)
  }

  /** What the process printed. */
  print(text: string): void {
    this.#current.output += text
  }

  pass(test: Outcome): void {
    const hasChildren = this.#countIn(test)
    if (test.skip !== undefined || test.todo !== undefined) this.#skip(test)
    else if (test.nesting > 0) this.#current.passed += hasChildren || test.details.type === 'suite' ? 0 : 1
    else if (this.#isFile(test) && !hasChildren && !this.#mayBeEmpty) this.#fail(test.name, 'the file holds no test')
    if (this.#isFile(test)) this.#end()
  }

  fail(test: Outcome): void {
    this.#countIn(test)
    const { failureType, cause } = test.details.error ?? {}
    if (failureType === 'testAborted') this.#fail(`${this.#current.file} was ended`, `while running: ${this.#tests()}`)
    else if (failureType !== 'subtestsFailed') this.#fail(this.#nameOf(test), cause ?? test.details.error)
    if (this.#isFile(test)) this.#end()
  }

  /** The process has ended, and took the files along that had not. */
  close(): void {
    const left = this.#files.slice(this.#endedCount)
    for (const file of left) {
      const hasReason = this.#current.failed > 0 || this.#mayBeEmpty
      if (!hasReason) this.#fail(file, 'has no result: the process ended in it or before')
      this.#end()
    }
    // It failed after all its files had ended: the last of them is told.
    if (left.length === 0 && this.#current.failed > 0) this.#end()
  }

  /** Whether the test had tests inside, which ended before. */
  #countIn({ nesting }: Outcome): boolean {
    const hasChildren = (this.#childCounts[nesting + 1] ?? 0) > 0
    this.#childCounts.length = nesting + 1
    this.#childCounts[nesting] = (this.#childCounts[nesting] ?? 0) + 1
    return hasChildren
  }

  #nameOf(test: Outcome): string {
    return test.nesting > 0 || this.#isFile(test) ? test.name : `the process of ${this.#current.file}`
  }

  /** Whether an event is that of a file: the process itself has an event too. */
  #isFile({ name, nesting }: Outcome): boolean {
    return nesting === 0 && this.#files.includes(name)
  }

  #fail(name: string, reason: unknown): void {
    this.#current.failed += 1
    this.#current.failures.push(`${name}\n${typeof reason === 'string' ? reason : inspect(reason)}`)
  }

  #skip({ name, skip, todo }: Outcome): void {
    const reason = [skip, todo].find((text) => typeof text === 'string')
    this.#current.skipped += 1
    this.#current.skips.push(`${name}: ${reason ?? 'no reason given'}`)
  }

  #tests(): string {
    return [...this.running].filter((name) => !this.#files.includes(name)).join(', ')
  }

  #end(): void {
    const nowMs = performance.now()
    this.#endedCount += 1
    this.#onFile({ ...this.#current, durationMs: nowMs - this.#startedMs })
    this.#current = emptyResult(this.#files[this.#endedCount] ?? this.#files.at(-1))
    this.#childCounts = []
    this.#startedMs = nowMs
  }
}

function emptyResult(file = ''): FileResult {
  return { file, passed: 0, failed: 0, skipped: 0, durationMs: 0, failures: [], skips: [], notes: [], output: '' }
}
