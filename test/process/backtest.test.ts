import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createStore } from '@sonde/console'
import { createFiles, createSchema, createSource, defineType, gauge, label, timestamp } from '@sonde/sdk'
import { filesBelow } from '../dtb/sonde-read.ts'
import { temporaryDir } from '../sonde-process.ts'
import { SONDE } from '../sonde-program.ts'

const S = 1_000_000_000n
const START = 1_780_000_000n * S

const ovenType = defineType('oven', 'An oven', { time: timestamp(), name: label(), celsius: gauge('f64') })

const RULES = {
  sample_history_depth: 1,
  signals: [
    { name: 'oven', type: 'oven', field: 'celsius' },
    { name: 'fridge', type: 'fridge', field: 'celsius' },
  ],
  rules: [
    { name: 'oven too hot', signal: 'oven', comparison_type: 'gt', comparison_value: 220 },
    { name: 'fridge too warm', signal: 'fridge', comparison_type: 'gt', comparison_value: 8 },
  ],
}

interface Line {
  readonly kind: string
  readonly rule: string
}

function folder(t: TestContext, rules: unknown = RULES): { readonly dir: string; readonly rules: string } {
  const dir = temporaryDir()
  t.after(dir.remove)
  const path = join(dir.path, 'rules.json')
  writeFileSync(path, JSON.stringify(rules))
  return { dir: dir.path, rules: path }
}

function backtest(...args: readonly string[]) {
  const [node, ...flags] = SONDE
  const { status, stdout, stderr } = spawnSync(node, [...flags, 'backtest', ...args], { encoding: 'utf8' })
  return { code: status, stdout, stderr }
}

function linesOf(stdout: string): Line[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** The left oven is too hot from second 10 to 20. */
const celsiusAt = (second: number) => (second >= 10 && second < 20 ? 240 : 180)
const row = (second: number, name = 'left') => ({
  ...{ time: START + BigInt(second) * S, name },
  celsius: name === 'left' ? celsiusAt(second) : 20,
})
const EVENT = {
  ...{ kind: 'event', start: '2026-05-28T20:26:50Z', rule: 'oven too hot', device: 'oven left', source: 'kitchen' },
  ...{ labels: { name: 'left' }, end: 'over', lastedS: 10 },
}

test('finds the events of a store, whose records did not arrive in the order of their time', async (t) => {
  const { dir, rules } = folder(t)
  const store = await createStore({ path: join(dir, 'store.db') })
  const source = createSource({ id: 'kitchen', emit: (batch) => store.accept(batch) })
  for (const from of [15, 0]) {
    for (let second = from; second < from + 15; second++)
      for (const name of ['left', 'right']) source.report(ovenType, row(second, name))
    source.flush()
    await store.flush()
  }
  await store.close()

  const { code, stdout, stderr } = backtest('--rules', rules, '--store', dir, '--format', 'jsonl')
  assert.equal(code, 0, stderr)
  const [hot, warm, ...events] = linesOf(stdout)
  assert.deepEqual(hot, {
    ...{ kind: 'rule', rule: 'oven too hot', condition: 'oven is above 220 for 1 sample', events: 1, devices: 1 },
    ...{ series: 2, records: 60, heldS: 10, longestS: 10, intervalS: 1 },
  })
  assert.equal((warm as { fault?: string }).fault, 'not tested: there are no records of fridge')
  assert.deepEqual(events, [EVENT])

  const shown = backtest('--rules', rules, '--store', dir).stdout
  assert.match(shown, /^2026-05-28T20:26:40Z to 2026-05-28T20:27:09Z \(29 s\), 60 records$/m)
  assert.match(shown, /^oven too hot +1 +1 +10 s +17 % +10 s +2 +1 s +oven is above 220 for 1 sample$/m)
  assert.match(shown, /^fridge too warm +- +- +- +- +- +- +- +not tested: there are no records of fridge$/m)
  assert.match(shown, /^2026-05-28T20:26:50Z +10 s +over +oven too hot +kitchen +oven left$/m)

  const later = backtest('--rules', rules, '--store', dir, '--start', '2026-05-28T20:27:00Z', '--format', 'csv')
  assert.equal(later.stdout, 'start,lastedS,end,rule,source,device\n')
  assert.match(backtest('--rules', rules, '--store', dir, '--source', 'kitchn').stderr, /did you mean kitchen\?/)
})

test('finds the events of files, goes on behind a torn end, and refuses wrong rules', async (t) => {
  const { dir, rules } = folder(t)
  const data = join(dir, 'data')
  const schema = createSchema({ name: 'kitchen', sinks: [createFiles({ dataRoot: data })] })
  schema.addType(ovenType)
  await schema.start()
  const source = schema.createSource({ id: 'kitchen', tag: '' })
  for (let second = 0; second < 30; second++) source.report(ovenType, row(second))
  await source.flush()
  await schema.close()
  const run = () => backtest(data, '--rules', rules, '--format', 'jsonl')
  const eventsOf = (stdout: string) => linesOf(stdout).filter(({ kind }) => kind === 'event')
  // Records of an application name its source in a label, too.
  const event = { ...EVENT, labels: { name: 'left', source: 'kitchen' } }
  assert.deepEqual(eventsOf(run().stdout), [event])

  const [file = ''] = filesBelow(data)
  appendFileSync(file, Buffer.alloc(100, 7))
  const damaged = run()
  assert.deepEqual(eventsOf(damaged.stdout), [event])
  assert.match(damaged.stderr, /100 bytes are ignored/)
  assert.equal(damaged.code, 1)

  mkdirSync(join(dir, 'none'))
  assert.match(backtest(join(dir, 'none'), '--rules', rules).stderr, /no file of records/)
  assert.equal(backtest('--rules', rules).code, 2)
  const wrong = folder(t, { ...RULES, rules: [{ name: 'x', signal: 'oven', comparison_type: 'above' }] })
  const refused = backtest(data, '--rules', wrong.rules)
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /rules\[0\]\.comparison_type is "above"; allowed: one of gt/)
})
