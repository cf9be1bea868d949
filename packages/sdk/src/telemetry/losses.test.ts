import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../test/files-rig.ts'

/**
 * An application whose records are lost on their way: `how` says which and where. Prints the errors of flush and close.
 */
const PROGRAM = `
import { createSchema, createSource, defineType, gauge, label, sinkStats, timestamp, wallNs } from '@sonde/sdk'
const [dataRoot, how] = process.argv.slice(1)
const throwing = {
  name: 'own', stats: sinkStats(), async flush() {}, async close() {},
  accept({ count }) { this.stats.in += count; throw new Error('no such table') },
}
const rejecting = { ...throwing, name: 'late', stats: sinkStats(), async accept({ count }) { this.stats.in += count; throw new Error('no such host') } }
const schema = createSchema({ name: 'bakery', export: { files: { dataRoot } }, sinks: how === 'throws' ? [throwing, rejecting] : [] })
const oven = schema.addType(defineType('oven', '', { time: timestamp(), name: label(), celsius: gauge('f64') }))
await schema.start()
const source = schema.createSource({ id: 'me', tag: 'ovens', symbolLimit: 12 })
// Whoever asks for the table keeps it: it is not replaced.
if (how !== 'throws') source.symbols.count
const count = how === 'throws' ? 3 : 100
for (let i = 0; i < count; i++) source.report(oven, { time: wallNs(), name: how === 'throws' ? 'left' : String(i), celsius: 180 })
if (how === 'labels at the end') process.exit()
const say = ({ code, message }) => console.log(code, message)
await source.flush().catch(say)
await source.flush()
source.report(oven, { time: wallNs(), name: 'late', celsius: 180 })
await schema.close().catch(say)
if (how === 'throws') {
  const timed = createSource({ id: 'timed', flushIntervalMs: 1, emit() { throw new Error('no such pipe') } })
  timed.report(oven, { time: wallNs(), name: 'left', celsius: 180 })
  while (timed.stats.dropped.size === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  await timed.flush().catch(say)
  await timed.close()
}
console.log('taken', schema.status().sinks[0].stats.out)
`

async function run(t: TestContext, how: string): Promise<{ said: string; warned: string }> {
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning', '--input-type=module']
  const child = spawn(process.execPath, [...flags, '--eval', PROGRAM, temporaryFolder(t), how], {
    cwd: import.meta.dirname,
  })
  const texts = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (texts[0] += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (texts[1] += text))
  await once(child, 'close')
  return { said: texts[0] ?? '', warned: texts[1] ?? '' }
}

test('records whose labels found the symbol table full are an error of flush and close, and one warning', async (t) => {
  const { said, warned } = await run(t, 'labels')
  const cause = /symbol_limit: a label had a new text and the symbol table was full; raise symbolLimit/.source
  const wanted = [
    new RegExp(`^SRC_LOST source me dropped 90 records \\(90 ${cause}`),
    new RegExp(`^TEL_LOST schema bakery: not everything was kept: source me dropped 1 record \\(1 ${cause}`),
  ]
  for (const [i, pattern] of wanted.entries()) assert.match(said.split('\n')[i] ?? '', pattern)
  assert.equal(warned.split('SRC_LOST').length, 2, warned)
  assert.match(warned, new RegExp(`\\[SRC_LOST\\] Warning: source me drops records as ${cause}`))
})

test('records that found the symbol table full and that nobody flushed are said at the end of the process', async (t) => {
  const { warned } = await run(t, 'labels at the end')
  assert.match(warned, /\[TEL_LOST\] Warning: source me dropped 90 records \(90 symbol_limit: /)
})

test('what accept of a sink throws or rejects with is an error of flush and close, and one warning; the other sinks get the records', async (t) => {
  const { said, warned } = await run(t, 'throws')
  const [flushed = '', closed = '', timed = '', taken] = said.split('\n')
  const lost = (records: string, count: number) =>
    new RegExp(
      `^TEL_LOST schema bakery: .* own dropped ${records} \\(${count} failed: accept threw: no such table\\); late dropped ${records} \\(${count} failed: accept threw: no such host\\)$`,
    )
  assert.match(flushed, lost('3 records', 3))
  assert.match(closed, lost('1 record', 1))
  assert.equal(timed, 'SRC_LOST source timed dropped 1 record (1 failed: emit threw: no such pipe)')
  assert.equal(taken, 'taken 4')
  assert.equal(warned.split('TEL_LOST').length, 3, warned)
  assert.match(warned, /own of schema bakery drops records as failed: accept threw: no such table/)
  assert.match(warned, /late of schema bakery drops records as failed: accept threw: no such host/)
  assert.match(warned, /source timed drops records as failed: emit threw: no such pipe/)
})
