// The command over a NIC of a simulated node, called by each of the names that a real one has.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runSonde, temporaryDir, until } from '../sonde-process.ts'

const MAIN = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))
const ID = '0x1020000100000000'
const BOOK = {
  ...{ diag_sample_period_ns: 100_000, sample_history_depth: 1 },
  'data-ids': [{ name: 'rx', data_id: ID }],
  rules: [{ name: 'receives', data_id: ID, comparison_type: 'gt', comparison_value: 0 }],
}
const LIMIT_MS = 60_000

function argumentsFor(t: TestContext, device: string) {
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const [rules, log] = [join(dir.path, 'rules.json'), join(dir.path, 'events.log')]
  writeFileSync(rules, JSON.stringify(BOOK))
  return { log, args: ['traceback', '-d', device, '--rules', rules, '--event-log', log, '--simulate'] }
}

for (const device of ['0000:18:00.0', 'mlx5_0', 'eth10'])
  test(`a simulated NIC is watched by the name ${device}`, async (t) => {
    const { log, args } = argumentsFor(t, device)
    const child = spawn(process.execPath, ['--conditions=source', MAIN, ...args], { stdio: 'ignore' })
    const ended = once(child, 'close')
    t.after(() => child.kill('SIGKILL'))
    await until('an event', LIMIT_MS, () => /^start,/m.test(logText(log)) || undefined)
    child.kill('SIGINT')
    assert.deepEqual(await ended, [0, null])
    assert.match(logText(log), new RegExp(`^# .*${device}`, 'm'))
  })

test('an address that no simulated NIC has is refused, with those that there are', async (t) => {
  const { args } = argumentsFor(t, '0000:ff:00.0')
  const { code, output } = await runSonde(args)
  assert.equal(code, 1, output)
  assert.match(output, /no device is called 0000:ff:00\.0; there are: mlx5_0 = 0000:18:00\.0 = eth10, /)
})

function logText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
