import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { counter, createIpc, createPrometheus, createSource, defineType, label, timestamp } from '@sonde/sdk'
import { keepingService } from '../../test/keeping-service.ts'

const podType = defineType('pod_work', '', {
  time: timestamp(),
  pod: label(),
  container: label(),
  work_total: counter('u64'),
})

const DAYS = 30
const HOURS = DAYS * 24
/** Pods at a time, each of which lives some hours: 180 000 names in a month. */
const PODS = 500
const PODS_AN_HOUR = 250

test('a month of pods that come and go uses up no table, and every live one is shown once with its last value', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-churn-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  let nowMs = Date.UTC(2026, 0, 1)
  const view = createPrometheus({ nowMs: () => nowMs, seriesExpiryS: 5400 })
  const service = await keepingService(join(dir, 'sockets'), (batch) => view.accept(batch))
  const ipc = createIpc({ socketsDir: join(dir, 'sockets') })
  t.after(async () => {
    await ipc.close()
    await service.close()
  })
  const source = createSource({ id: 'pods', emit: (batch) => ipc.accept(batch) })
  const owners = new Set<object>()
  const sources = new Set<object>()
  for (let hour = 0; hour < HOURS; hour++) {
    nowMs += 3_600_000
    for (let i = 0; i < PODS; i++) {
      // The first half of the pods goes each hour, and the other half is the first next time.
      const pod = `job-${hour * PODS_AN_HOUR + i}-${'x'.repeat(20)}`
      source.report(podType, { time: BigInt(nowMs) * 1_000_000n, pod, container: 'main', work_total: hour })
    }
    await source.flush()
    await ipc.flush()
    if (hour % 10 !== 5) continue
    const scrape = await view.render()
    const lines = Buffer.concat(scrape.chunks)
      .toString()
      .split('\n')
      .filter((line) => line.startsWith('pod_work_work_total{'))
    scrape.release()
    // Those of the hour before that did not report again expire half an hour later.
    assert.equal(lines.length, PODS + PODS_AN_HOUR)
    assert.equal(lines.filter((line) => line.endsWith(` ${hour}`)).length, PODS)
    for (const info of view.sources()) {
      owners.add(info.owner ?? info)
      sources.add(info)
    }
  }
  assert.deepEqual([...source.stats.dropped], [])
  assert.deepEqual(ipc.status().dropped, {})
  assert.deepEqual([...view.stats.dropped], [])
  assert.equal(service.stats.refused.size, 0)
  assert.equal(owners.size, 1)
  assert.ok(sources.size >= 3, `${sources.size} tables of labels`)
})
