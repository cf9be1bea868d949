import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../sdk/test/helper.ts'
import { podSource } from '../../test/pod-source.ts'
import { serveAgent } from '../../test/served-agent.ts'

interface Answer {
  readonly ledger: { readonly in: number; readonly out: number; readonly dropped: number }
}

test('rows that the agent makes of other records are in its ledger', async (t) => {
  const pod = { app: 'chat', service: 'decode', pod: 'decode-0', gpus: [{ UUID: 'GPU-0', values: { gpu_util: 50 } }] }
  const definition = podSource(() => ({ pods: [pod] }))
  const { address, agent } = await serveAgent(t, { sources: [definition] })
  await until('rows of pods', () => agent.madeRecords > 2)
  const ledger = await until('a ledger that adds up', async () => {
    const { ledger } = (await (await fetch(`${address}/api/v1/sources`)).json()) as Answer
    return ledger.in === ledger.out + ledger.dropped && ledger
  })
  assert.ok(ledger.out > 0)
})
