import { hostname, userInfo } from 'node:os'
import type { SourcePaths } from '../sources/source.ts'
import { type CheckResult, failed, notPossible, type ReportFact } from './check.ts'
import { type FromTest, type Planned, type TestedLibrary, testPartOf } from './protocol.ts'
import { scrub } from './scrub.ts'
import { runTestChild } from './test-child.ts'

/** Longest time of one check. Unit: milliseconds. */
const CHECK_LIMIT_MS = 10_000
/** Longest time of a whole test. Unit: milliseconds. */
const TEST_LIMIT_MS = 110_000
const PAUSE_MS = 200

/** Options of {@link runSelfTest}. */
export interface SelfTestOptions {
  readonly paths: SourcePaths
  /** Whether checks may be made that taint the kernel. */
  readonly acceptsTaint: boolean
  /** Called after each check. */
  readonly onResult?: (result: CheckResult, done: number, planned: number) => void
  /** Longest time of one check. Default: 10 s. Unit: milliseconds. */
  readonly checkLimitMs?: number
  /** Time between two readings of a device. Default: 200. Unit: milliseconds. */
  readonly pauseMs?: number
}

/** What a self-test found. */
export interface SelfTestReport {
  readonly library: TestedLibrary
  readonly facts: readonly ReportFact[]
  readonly results: readonly CheckResult[]
  /** Why there was nothing to test; undefined if there was. */
  readonly nothing: string | undefined
  readonly seconds: number
}

/** Tests a library of a vendor and its devices in child processes: a call that hangs or crashes ends only its child. */
export async function runSelfTest(library: TestedLibrary, options: SelfTestOptions): Promise<SelfTestReport> {
  const test = new SelfTest(library, options)
  await test.run()
  return test.report()
}

class SelfTest {
  readonly #library: TestedLibrary
  readonly #options: SelfTestOptions
  readonly #startMs = performance.now()
  readonly #facts = new Map<string, string>()
  readonly #results = new Map<string, CheckResult>()
  /** Why parts of devices were left: by their place. */
  readonly #skipped = new Map<string, string>()
  readonly #names = new Map<string, string>()
  #planned: readonly Planned[] = []
  #nothing: string | undefined

  constructor(library: TestedLibrary, options: SelfTestOptions) {
    this.#library = library
    this.#options = options
  }

  async run(): Promise<void> {
    const { paths, acceptsTaint, pauseMs = PAUSE_MS, checkLimitMs = CHECK_LIMIT_MS } = this.#options
    for (;;) {
      const [skipped, made] = [[...this.#skipped.keys()], [...this.#results.keys()]]
      const end = await runTestChild(
        { library: this.#library, paths, acceptsTaint, pauseMs, skipped, made },
        {
          checkLimitMs,
          wholeLimitMs: TEST_LIMIT_MS - (performance.now() - this.#startMs),
          onMessage: (message) => this.#take(message),
        },
      )
      if (end.state === 'ended') return
      const { at, why } = end
      if (at === undefined) {
        // No check had begun, so nothing can be left out.
        this.#nothing = `the library could not be loaded, or its devices could not be listed: ${why}`
        return
      }
      this.#skipped.set(testPartOf(at), why)
      this.#add({ ...at, verdict: failed('an answer', why) })
    }
  }

  report(): SelfTestReport {
    const unmade = this.#planned.filter((planned) => !this.#results.has(keyOf(planned)))
    for (const planned of unmade) {
      const why = this.#skipped.get(testPartOf(planned))
      const reason = why === undefined ? 'the time of the test was over' : `left out, because ${why}`
      this.#results.set(keyOf(planned), { ...planned, verdict: notPossible(reason) })
    }
    const clean = (text: string) => scrub(text, this.#hidden())
    return {
      library: this.#library,
      facts: [...this.#facts].map(([of, value]) => ({ of, value: clean(value) })),
      results: [...this.#results.values()].map((result) => cleaned(result, clean)),
      nothing: this.#nothing === undefined ? undefined : clean(this.#nothing),
      seconds: (performance.now() - this.#startMs) / 1000,
    }
  }

  /** Names that the report must not hold. */
  #hidden(): ReadonlyMap<string, string> {
    const [host = ''] = hostname().split('.')
    const own = [hostname(), host].map((name) => [name, '[host]'] as const)
    return new Map([...own, [userInfo().username, '[user]'], ...this.#names])
  }

  #add(result: CheckResult): void {
    this.#results.set(keyOf(result), result)
    this.#options.onResult?.(result, this.#results.size, this.#planned.length)
  }

  /** Takes a message of a child. */
  #take(message: FromTest): void {
    if (message.kind === 'fact') this.#facts.set(message.fact.of, message.fact.value)
    else if (message.kind === 'named') for (const [name, shown] of message.names) this.#names.set(name, shown)
    else if (message.kind === 'planned') this.#planned = message.checks
    else if (message.kind === 'nothing') this.#nothing = message.reason
    else if (message.kind === 'result') this.#add(message.result)
  }
}

function cleaned({ verdict, ...planned }: CheckResult, clean: (text: string) => string): CheckResult {
  const texts = Object.entries(verdict).map(([name, text]) => [name, name === 'state' ? text : clean(text)])
  return { ...planned, verdict: Object.fromEntries(texts) }
}

function keyOf({ check, device }: Planned): string {
  return `${check} ${device}`
}
