import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { IncidentsAnswer } from '@sonde/sdk/api'
import { serveAgent } from '../../../test/served-agent.ts'

test('pipes, folders, devices and links among the events delay neither the list nor later events', {
  timeout: 60_000,
}, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-events-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  execFileSync('mkfifo', [join(dir, '5.json'), join(dir, '6.bin'), join(dir, '7.json.part')])
  mkdirSync(join(dir, '8.json'))
  symlinkSync('/dev/zero', join(dir, '9.json'))
  symlinkSync('10.json', join(dir, '10.json'))
  writeFileSync(join(dir, '11.json'), '{')
  const { address, agent } = await serveAgent(t, { traceback: { dir } })
  const answer = await fetch(`${address}/api/v1/incidents?kind=event`, { signal: AbortSignal.timeout(20_000) })
  assert.equal(answer.status, 200)
  const { incidents, unshown } = (await answer.json()) as IncidentsAnswer
  assert.deepEqual(incidents, [])
  const reason = '5 files of events are not shown: damaged, or written by another version of Sonde.'
  assert.deepEqual(unshown, { count: 5, reason })
  assert.equal(agent.traceback.archive.failed, 5)
})
