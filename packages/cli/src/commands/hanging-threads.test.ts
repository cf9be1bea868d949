import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { hasHangingThread } from './hanging-threads.ts'

test('a thread in an uninterruptible call differs from sleeping threads, whatever their names', (t) => {
  const tasks = mkdtempSync(join(tmpdir(), 'sonde-tasks-'))
  t.after(() => rmSync(tasks, { recursive: true }))
  const thread = (id: number, name: string, state: string) => {
    mkdirSync(join(tasks, String(id)), { recursive: true })
    writeFileSync(join(tasks, String(id), 'stat'), `${id} (${name}) ${state} 1 ${id} ${id} 0 -1 4194560\n`)
  }
  thread(1, 'node', 'R')
  thread(2, 'a) D 1', 'S')
  mkdirSync(join(tasks, '3'))
  assert.ok(!hasHangingThread(tasks), 'one that has ended has no state')
  thread(4, 'sonde) S 1', 'D')
  assert.ok(hasHangingThread(tasks))
})

test('the threads of a process that does nothing hang nowhere', () => {
  assert.ok(!hasHangingThread())
})
