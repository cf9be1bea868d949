import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { until } from '../../packages/sdk/test/helper.ts'
import { isGood, summaryOf } from '../../scripts/test-files.ts'
import { isRunning } from '../sonde-process.ts'

const RUNNER = pathToFileURL(join(import.meta.dirname, '../../scripts/test-files.ts')).href

/** Runs test files with the given content in a process of its own, and answers what the runner printed. */
function runTests(
  context: TestContext,
  contents: Record<string, string>,
  { options = {}, name, isTogether = false }: { options?: object; name?: string; isTogether?: boolean } = {},
): string {
  const root = mkdtempSync(join(tmpdir(), 'sonde-runner-'))
  context.after(() => rmSync(root, { recursive: true }))
  const files = Object.keys(contents).map((file) => join(root, file))
  const groups = isTogether ? [files] : files.map((file) => [file])
  for (const [file, text] of Object.entries(contents)) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), `import { describe, it, test, before } from 'node:test'\n${text}`)
  }
  const program = `import { runTestFiles, summaryOf } from ${JSON.stringify(RUNNER)}
    const counts = await runTestFiles(${JSON.stringify(groups)}, ${JSON.stringify({ root, name, ...options })})
    console.log(summaryOf(counts))`
  const programFile = join(root, 'program.mjs')
  writeFileSync(programFile, program)
  // Inside a test, node:test would report to the process above instead of to the runner.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const result = spawnSync(process.execPath, [programFile], { env, encoding: 'utf8' })
  assert.equal(result.stderr, '')
  return result.stdout
}

const lastLine = (text: string) => text.trimEnd().split('\n').at(-1)

test('counts each test once, whatever is around it', (context) => {
  const printed = runTests(context, {
    'a.test.ts': `
      test('passes', () => {})
      test('parent', async t => { await t.test('one', () => {}); await t.test('two', () => {}) })
      describe('suite', () => { it('three', () => {}); describe('inner', () => { it('four', () => {}) }) })`,
    'b.test.ts': `
      test('skipped', { skip: 'no device here' }, () => {})
      test('todo', { todo: true }, () => {})
      describe.skip('suite', () => { it('never seen', () => {}) })`,
  })
  assert.equal(lastLine(printed), '5 passed, 0 failed, 3 skipped')
  assert.match(printed, /skipped skipped: no device here/)
})

test('counts a failed test once, shows it in full, and does not blame its parent', (context) => {
  const printed = runTests(context, {
    'a.test.ts': `
      test('parent', async t => { await t.test('good', () => {}); await t.test('bad', () => { throw new Error('broken bit') }) })
      test('fails after its children', async t => { await t.test('good', () => {}); throw new Error('late') })
      describe('suite', () => { before(() => { throw new Error('hook') }); it('in it', () => {}) })`,
  })
  assert.equal(lastLine(printed), '2 passed, 4 failed, 0 skipped')
  assert.match(printed, /✗ bad\n\s+Error: broken bit/)
  assert.match(printed, /✗ fails after its children/)
})

test('a file that does not load, ends badly, or holds no test has failed', (context) => {
  const printed = runTests(context, {
    'load.test.ts': "console.log('said before'); throw new Error('no load')",
    'exit.test.ts': "test('fine', () => {}); process.on('exit', () => { process.exitCode = 5 })",
    'empty.test.ts': '',
  })
  assert.equal(lastLine(printed), '1 passed, 3 failed, 0 skipped')
  assert.match(printed, /said before/)
  assert.match(printed, /✗ the process of .*exit\.test\.ts/)
  assert.match(printed, /Error: no load/)
})

test('files that share a process are told apart, and what ends it fails those that it kept from running', (context) => {
  const together = { isTogether: true }
  const good = "test('fine', t => t.diagnostic('seed 42')); console.log('said by the good')"
  const printed = runTests(
    context,
    {
      'a.test.ts': good,
      'bad.test.ts': "before(() => {}); test('bad', () => { throw new Error('broken') })",
      'empty.test.ts': '',
      'load.test.ts': "throw new Error('no load')",
      'z.test.ts': "test('one', () => {}); test('two', () => {})",
    },
    together,
  )
  assert.equal(lastLine(printed), '3 passed, 3 failed, 0 skipped')
  assert.match(printed, /ok {3}a\.test\.ts {2}1 passed.*\n {7}seed 42/)
  assert.match(printed, /FAIL bad\.test\.ts {2}0 passed, 1 failed/)
  assert.match(printed, /the file holds no test/)
  assert.match(printed, /FAIL load\.test\.ts.*\n.*no load/)
  assert.match(printed, /ok {3}z\.test\.ts {2}2 passed/)

  const ended = runTests(
    context,
    { 'a.test.ts': good, 'exit.test.ts': "test('ends', () => process.exit(3))", 'z.test.ts': good },
    together,
  )
  assert.match(ended, /FAIL exit\.test\.ts/)
  assert.match(ended, /z\.test\.ts\n\s+has no result: the process ended in it or before/)
  // The others run again alone. The end of the process may have lost the result of the file before, too.
  assert.equal(lastLine(ended), '2 passed, 1 failed, 0 skipped')
  assert.match(ended, /^flaky: (a\.test\.ts, )?z\.test\.ts$/m)
})

test('a file that takes too long is ended, says which test it was in, and leaves no process in any group', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-runner-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const started = join(folder, 'pids')
  const content = `import { spawn } from 'node:child_process'
    import { writeFileSync } from 'node:fs'
    test('waits for ever', () => {
      const forEver = ['-e', 'setInterval(() => {}, 1000)']
      const start = (args, options) => spawn(process.execPath, args, { stdio: 'ignore', ...options })
      const children = [
        start(forEver, { detached: false }),
        start(forEver, { detached: true }),
        // As processes in which sources run.
        start([...process.execArgv, ...forEver], { env: {} }),
      ]
      writeFileSync('${started}', JSON.stringify(children.map(({ pid }) => pid)))
      return new Promise(() => {})
    })`
  // Nothing says from outside that the test has begun, so the limit is far above what that takes.
  const printed = runTests(context, { 'leaves.test.ts': content }, { options: { timeLimitMs: 8000 } })
  assert.equal(lastLine(printed), '0 passed, 1 failed, 0 skipped')
  assert.match(printed, /while running: .*waits for ever/)
  const pids = JSON.parse(readFileSync(started, 'utf8')) as number[]
  assert.equal(pids.length, 3)
  for (const pid of pids) await until(`the end of process ${pid}`, () => !isRunning(pid))
})

test('each of the files that share a process has the whole time limit', (context) => {
  const content = "test('takes time', () => new Promise((resolve) => setTimeout(resolve, 4500)))"
  const files = { 'a.test.ts': content, 'b.test.ts': content }
  const printed = runTests(context, files, { isTogether: true, options: { timeLimitMs: 8000 } })
  assert.equal(lastLine(printed), '2 passed, 0 failed, 0 skipped')
})

/** A test that fails in the given runs of its file, counted from 0. */
function failsInRuns(...runs: number[]): string {
  return `import { existsSync, readFileSync, writeFileSync } from 'node:fs'
    test('races', () => {
      const counter = import.meta.filename + '.runs'
      const run = existsSync(counter) ? Number(readFileSync(counter, 'utf8')) : 0
      writeFileSync(counter, String(run + 1))
      if ([${runs}].includes(run)) throw new Error('failed in run ' + run)
    })`
}

test('a failed file runs again alone, and is flaky if it passes', (context) => {
  const printed = runTests(context, {
    'broken.test.ts': failsInRuns(0, 1),
    'flaky.test.ts': `${failsInRuns(0)}\ntest('fine', () => {})`,
    'good.test.ts': failsInRuns(),
  })
  assert.match(printed, /flaky: flaky\.test\.ts\n3 passed, 1 failed, 0 skipped\n$/)
  assert.match(printed, /━━ flaky\.test\.ts\n\n {2}✗ races\n\s+Error: failed in run 0/)
  assert.match(printed, /Run again, each file alone:\n(.*\n)*ok {3}flaky\.test\.ts {2}2 passed/)
  assert.match(printed, /━━ broken\.test\.ts\n\n {2}✗ races\n\s+Error: failed in run 1/)
})

test('a file about loss must pass three times to be flaky', (context) => {
  const printed = runTests(context, {
    'test/faults/lost.test.ts': failsInRuns(0, 3),
    'test/faults/slow.test.ts': failsInRuns(0),
  })
  assert.match(printed, /flaky: test\/faults\/slow\.test\.ts\n1 passed, 1 failed, 0 skipped\n$/)
  assert.match(printed, /Error: failed in run 3/)
})

test('files do not run again if too many failed to be flaky', (context) => {
  const names = Array.from({ length: 11 }, (_, index) => `${index}.test.ts`)
  const printed = runTests(context, Object.fromEntries(names.map((name) => [name, failsInRuns(0)])))
  assert.equal(lastLine(printed), '0 passed, 11 failed, 0 skipped')
})

test('runs only the tests of a given name', (context) => {
  const contents = {
    'a.test.ts': "test('cuts a torn tail', () => {}); test('other', () => { throw new Error('not asked for') })",
    'b.test.ts': "test('nothing of that name', () => {})",
  }
  assert.equal(lastLine(runTests(context, contents, { name: 'torn' })), '1 passed, 0 failed, 0 skipped')
})

test('prints what tests noted, such as a seed', (context) => {
  assert.match(runTests(context, { 'a.test.ts': "test('loop', t => t.diagnostic('seed 42'))" }), /seed 42/)
})

test('a skip is good on a desk and a failure in CI; no test at all is a failure, and so are three flaky files', () => {
  const counts = { passed: 3, failed: 0, skipped: 1, flaky: [] }
  assert.equal(summaryOf(counts), '3 passed, 0 failed, 1 skipped')
  assert.equal(isGood(counts, { ci: false }), true)
  assert.equal(isGood(counts, { ci: true }), false)
  const good = { ...counts, skipped: 0 }
  assert.equal(isGood(good, { ci: true }), true)
  assert.equal(isGood({ ...good, failed: 1 }, { ci: false }), false)
  assert.equal(isGood({ ...good, passed: 0 }, { ci: false }), false)
  assert.equal(isGood({ ...good, flaky: ['a', 'b'] }, { ci: true }), true)
  assert.equal(isGood({ ...good, flaky: ['a', 'b', 'c'] }, { ci: false }), false)
})
