import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serveAgent } from '../../test/served-agent.ts'

test('who writes on incidents waits for a place, as queries do', async (t) => {
  const { agent, address } = await serveAgent(t, { limits: { parallel_queries: 1 } })
  const writes = [
    { path: 'notes', body: '{"text":"seen"}' },
    { path: 'acknowledge', body: '{}' },
    { path: 'pin', body: '{}' },
  ]
  agent.http.queries = 1
  const answered: string[] = []
  const answers = writes.map(async ({ path, body }) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${address}/api/v1/incidents/node:17/${path}`, { method: 'POST', headers, body })
    answered.push(path)
    return response.status
  })
  // More requests than any of these needs for its answer.
  for (let round = 0; round < 10; round++) await (await fetch(`${address}/api/v1/node`)).text()
  assert.deepEqual(answered, [])
  agent.http.queries = 0
  await (await fetch(`${address}/api/v1/incidents`)).text()
  assert.deepEqual(await Promise.all(answers), [404, 404, 404])
})
