import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { until } from '../../../sdk/test/helper.ts'
import { Missing } from './field-absences.ts'
import { runProgram } from './run-program.ts'

function run(script: string, limitMs = 60_000): Promise<string | Missing> {
  return new Promise((resolve) => void runProgram({ file: '/bin/sh', args: ['-c', script], limitMs }, resolve))
}

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-program-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

function isRunning(pid: string): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))
  } catch {
    return false
  }
}

test('a program that is killed takes along what it has started, whatever signals that ignores', async (t) => {
  for (const [name, talk, reason] of [
    ['hangs', 'sleep 1000', /has not ended after 1000 ms$/],
    ['prints', 'yes', /printed more than 1048576 bytes$/],
  ] as const) {
    const file = join(temporaryFolder(t), 'pids')
    const child = `(trap "" TERM INT HUP; sh -c 'echo $$ >> ${file}; exec ${talk}')`
    const answer = await run(`${child} & ${child}; wait`, 1000)
    assert.match(String((answer as Missing).reason), reason, name)
    await until('its children are gone', () => existsSync(file) && readFileSync(file, 'utf8').trim() !== '')
    for (const pid of readFileSync(file, 'utf8').trim().split('\n'))
      await until(`${pid} is gone`, () => !isRunning(pid))
  }
})

test('a program answers with its output, or with the first line of its refusal', async () => {
  assert.equal(await run('echo out; echo err >&2'), 'out\n')
  for (const [script, reason] of [
    ['echo no bus >&2; echo more >&2; exit 1', 'no bus'],
    ['exit 7', 'exit code 7'],
    ['kill -9 $$', 'ended by SIGKILL'],
  ] as const) {
    const answer = await run(script)
    assert.ok(answer instanceof Missing && answer.reason === `/bin/sh failed: ${reason}`, String(answer))
  }
})
