import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { RuleBook } from '../../rules/rule.ts'
import { RulesFile } from './rules-file.ts'

function start(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-rules-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const path = join(dir, 'rules.json')
  const books: RuleBook[] = []
  const warnings: string[] = []
  const log = { info: () => undefined, warn: (_facts: object, message: string) => void warnings.push(message) }
  const read = (text: string) => ({ book: JSON.parse(text) as RuleBook, warnings: [] })
  return {
    dir,
    path,
    books,
    warnings,
    file: new RulesFile({ path, read, onBook: async (book) => void books.push(book), log }),
  }
}

const text = (historySamples: number) => JSON.stringify({ samplePeriodNs: 0, historySamples, signals: [], rules: [] })

test('a changed file is read again, and an unchanged file is not', async (t) => {
  const { path, file, books } = start(t)
  writeFileSync(path, text(1))
  await file.look()
  await file.look()
  writeFileSync(path, text(20))
  await file.look()
  assert.deepEqual(
    books.map(({ historySamples }) => historySamples),
    [1, 20],
  )
})

test('an invalid, too large or missing file leaves the previous rules in effect, and is reported once', async (t) => {
  const { dir, path, file, books, warnings } = start(t)
  writeFileSync(path, text(1))
  await file.look()
  const faults: string[] = []
  for (const make of [
    () => writeFileSync(path, '{'),
    () => writeFileSync(path, 'x'.repeat((1 << 20) + 1)),
    () => writeFileSync(path, Uint8Array.of(0xff, 0xfe)),
    () => {
      rmSync(path)
      symlinkSync('/proc/self/pagemap', path)
    },
    () => rmSync(path),
  ]) {
    make()
    warnings.length = 0
    await file.look()
    await file.look()
    assert.equal(file.book?.historySamples, 1)
    assert.equal(warnings.length, 1, file.fault)
    faults.push(file.fault ?? '')
  }
  assert.equal(faults.filter((fault) => fault === `${path} is larger than 1048576 bytes`).length, 2)
  writeFileSync(path, text(3))
  await file.look()
  assert.deepEqual([file.fault, books.at(-1)?.historySamples], [undefined, 3])
  const folder = new RulesFile({
    path: dir,
    read: () => assert.fail(),
    onBook: async () => undefined,
    log: { info: () => undefined, warn: () => undefined },
  })
  await folder.look()
  assert.match(folder.fault ?? '', /is no regular file/)
})

test('a pipe in the place of the file holds nobody up', { timeout: 20_000 }, async (t) => {
  const { path, file, books } = start(t)
  execFileSync('mkfifo', [path])
  await file.look()
  assert.match(file.fault ?? '', /is no regular file/)
  rmSync(path)
  writeFileSync(path, text(3))
  await file.look()
  assert.equal(books.at(-1)?.historySamples, 3)
})

test('of many warnings the first are logged, and how many more there are', async (t) => {
  const { path } = start(t)
  const logged: object[] = []
  const messages: string[] = []
  const file = new RulesFile({
    path,
    read: (text) => ({
      book: JSON.parse(text) as RuleBook,
      warnings: Array.from({ length: warningCount }, (_, i) => `w${i}`),
    }),
    onBook: async () => undefined,
    log: {
      info: () => undefined,
      warn: (facts, message) => {
        logged.push(facts)
        messages.push(message)
      },
    },
  })
  let warningCount = 8
  writeFileSync(path, text(1))
  await file.look()
  const first = Array.from({ length: 8 }, (_, i) => ({ path, warning: `w${i}` }))
  assert.deepEqual(logged.splice(0), first)
  warningCount = 1024
  writeFileSync(path, text(20))
  await file.look()
  assert.deepEqual(logged, [...first, { path, more: 1016 }])
  assert.match(messages.at(-1) ?? '', /more warnings; .*sonde check lists all/)
})
