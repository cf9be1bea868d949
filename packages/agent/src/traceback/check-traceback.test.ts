import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { rulesText, testRule } from '../rules/read/test-rules.ts'
import { checkTraceback } from './check-traceback.ts'
import { tracebackDefaults } from './config.ts'
import { systemDisk } from './keep/disk.ts'

function folderOf(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-check-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

test('nothing is found where traceback is not configured', async () => {
  assert.deepEqual(await checkTraceback(tracebackDefaults), [])
})

test('each fault of the rules is a finding, and sound rules are counted', async (t) => {
  const dir = folderOf(t)
  const rules = join(dir, 'rules.json')
  const findings = async () =>
    (await checkTraceback({ ...tracebackDefaults, rules })).filter(({ of }) => of === 'rules')
  assert.match((await findings())[0]?.found ?? '', /rules\.json does not exist; create it/)
  writeFileSync(rules, rulesText([testRule('gt', { comparison_value: -1, activate_samples: 0 })]))
  assert.deepEqual(
    (await findings()).map(({ state, found }) => `${state} ${found.split(' ')[1]}`),
    ['damaged rules[0].activate_samples', 'damaged rules[0].comparison_value'],
  )
  writeFileSync(rules, rulesText([testRule('dt_gt', { comparison_value: 1 })]))
  assert.deepEqual(await findings(), [{ of: 'rules', state: 'ok', found: `${rules}, 1 rule on 3 signals` }])
  rmSync(rules)
  execFileSync('mkfifo', [rules])
  assert.deepEqual(
    (await findings()).map(({ state }) => state),
    ['denied'],
  )
})

test('the folder of events is told as absent, present, taken or short, and nothing is made', async (t) => {
  const above = folderOf(t)
  const dir = join(above, 'events')
  const finding = async (more: object = {}) => (await checkTraceback({ ...tracebackDefaults, dir, ...more }))[0]
  const small = { max_event_bytes: 1 << 20, dir_bytes: 1 << 20 }
  assert.equal((await finding(small))?.state, 'absent')
  assert.deepEqual(readdirSync(above), [])
  mkdirSync(dir)
  assert.equal((await finding(small))?.state, 'present')
  assert.equal((await finding({ dir_bytes: 2 ** 50 }))?.state, 'short')
  assert.equal((await finding({ max_event_bytes: 2 ** 60 }))?.state, 'denied')
  assert.deepEqual(readdirSync(dir), [])
  const lock = systemDisk.lock(dir)
  t.after(() => lock?.close())
  assert.equal((await finding(small))?.state, 'taken')
  const file = join(above, 'file')
  writeFileSync(file, '')
  assert.equal((await finding({ ...small, dir: file }))?.state, 'denied')
})
