import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../sdk/test/helper.ts'
import { serveAgent } from '../../test/served-agent.ts'
import { hintType } from '../hints/history/hint-type.ts'
import type { KeptRequest } from '../pipeline/kept-records.ts'

const EMPTY = { fromMs: 0, toMs: 0, stepMs: 1000, times: new Float64Array(), results: [] }

test('who writes on incidents waits for a place, as readers do', async (t) => {
  const gate = Promise.withResolvers<void>()
  let isHeld = false
  let held = 0
  const records = async ({ type }: KeptRequest) => {
    if (isHeld && type === hintType.name) {
      held++
      await gate.promise
    }
    return []
  }
  const types = async () => ({ types: [], leftOut: 0 })
  const kept = { kept: { command: '', types, records } }
  const { address } = await serveAgent(t, { history: { query: async () => EMPTY }, kept })
  const list = async () => (await fetch(`${address}/api/v1/incidents`)).text()
  await list()
  isHeld = true
  const readers = Array.from({ length: 4 }, list)
  await until('readers have all places', () => held === 4)
  isHeld = false
  const answered: string[] = []
  const answers = ['notes', 'acknowledge', 'pin'].map(async (path) => {
    const headers = { 'content-type': 'application/json' }
    const url = `${address}/api/v1/incidents/node:17/${path}`
    const response = await fetch(url, { method: 'POST', headers, body: path === 'notes' ? '{"text":"seen"}' : '{}' })
    answered.push(path)
    return response.status
  })
  // More requests than any of these needs for its answer.
  for (let round = 0; round < 10; round++) await (await fetch(`${address}/api/v1/node`)).text()
  assert.deepEqual(answered, [])
  gate.resolve()
  assert.deepEqual(await Promise.all(answers), [404, 404, 404])
  await Promise.all(readers)
})
