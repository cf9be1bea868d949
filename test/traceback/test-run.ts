// Runs of the command over files of samples, for tests.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type TestFile, writeSamples } from '../../packages/agent/src/traceback/feed/test-samples.ts'
import { runTracebackCommand } from '../../packages/cli/src/commands/traceback/traceback.ts'

export const RX = '0x1020000100000000'
export const TX = '0x1140000100000000'

/** A folder of a test, in which the command runs as often as the test likes. */
export class TestFolder {
  readonly #folder: string
  readonly #test: TestContext

  constructor(test: TestContext) {
    this.#test = test
    this.#folder = mkdtempSync(join(tmpdir(), 'sonde-traceback-'))
    test.after(() => rmSync(this.#folder, { recursive: true, force: true }))
  }

  path(name: string): string {
    return join(this.#folder, name)
  }

  text(name = 'events.log'): string {
    return readFileSync(this.path(name), 'utf8')
  }

  lines(name = 'events.log'): string[] {
    return this.text(name).split('\n').slice(0, -1)
  }

  /** Lines of the log that begin so, without that. */
  rows(kind: string, name = 'events.log'): string[] {
    return this.lines(name).flatMap((line) => (line.startsWith(`${kind},`) ? [line.slice(kind.length + 1)] : []))
  }

  /** Sizes of the files whose names begin so. Unit: bytes. */
  sizes(prefix: string): number[] {
    const names = readdirSync(this.#folder).filter((name) => name.startsWith(prefix))
    return names.map((name) => statSync(this.path(name)).size)
  }

  /** Writes the rules: text as it is, or an object. */
  rules(rules: object | string, name = 'rules.json'): void {
    writeFileSync(this.path(name), typeof rules === 'string' ? rules : JSON.stringify(rules))
  }

  /** Writes the samples: one value each, or several. */
  samples(rows: Iterable<bigint | readonly bigint[]>, more: Partial<TestFile> = {}): void {
    const lists = function* () {
      for (const row of rows) yield typeof row === 'bigint' ? [row] : row
    }
    writeSamples(this.path('samples'), lists(), { dataIds: [BigInt(RX)], ...more })
  }

  /** Runs the command over what was written. Flags as Commander names them. */
  async run(flags: object = {}): Promise<{ code: number; said: string[] }> {
    const said: string[] = []
    const mock = this.#test.mock.method(console, 'error', (line: string) => said.push(line))
    const code = await runTracebackCommand({
      device: `file:${this.path('samples')}`,
      rules: this.path('rules.json'),
      eventLog: this.path('events.log'),
      ...flags,
    })
    mock.mock.restore()
    return { code, said }
  }
}

/** A file of rules on one signal, `rx`. */
export function rulesOf(rules: readonly object[], more: object = {}): object {
  return {
    diag_sample_period_ns: 100_000,
    sample_history_depth: 2,
    'data-ids': [{ name: 'rx', data_id: RX }],
    rules: rules.map((rule, index) => ({ name: `r${index}`, data_id: RX, ...rule })),
    ...more,
  }
}

export function gt(value: number, more: object = {}): object {
  return { comparison_type: 'gt', comparison_value: value, ...more }
}

export const big = (...values: number[]): bigint[] => values.map(BigInt)
