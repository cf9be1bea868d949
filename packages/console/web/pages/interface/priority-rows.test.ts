import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testColumns } from '../test-columns.ts'
import { portQuality, priorityQueries, qualityWords } from './priority-rows.ts'

const SPAN = { stepMs: 1000, isNow: true }
const DEVICE = { device: 'eth1' }

/** Answers by metric: a value for each labels. */
function answered(values: Readonly<Record<string, readonly (readonly [labels: object, values: readonly number[]])[]>>) {
  const answer = testColumns(
    priorityQueries('eth1').map((query) => ({
      query,
      series: (values[query.metric] ?? []).map(([labels, samples]) => ({
        labels: { ...DEVICE, ...labels },
        values: samples,
      })),
    })),
  )
  return portQuality(answer, 'eth1', SPAN)
}

const TRAFFIC = {
  ethtool_priority_tx_bytes_total: [
    [{ priority: '0' }, [1e6, 1e6]],
    [{ priority: '3' }, [5e9, 5e9]],
  ],
  ethtool_port_tx_vport_rdma_unicast_bytes_total: [[{}, [4.9e9, 4.9e9]]],
} as const

test('priorities with their settings, their traffic, and the one of RDMA', () => {
  const quality = answered({
    ...TRAFFIC,
    dcb_port_pfc_mask: [[{}, [8, 8]]],
    dcb_port_default_priority: [[{}, [0, 0]]],
    // Someone has changed the map: the older text ends.
    dcb_port_info: [
      [{ trust: 'pcp', dscp_priorities: 'none' }, [1, Number.NaN]],
      [{ trust: 'dscp', dscp_priorities: '0-25:0 26:3 27-47:0 48:6 49-63:0' }, [Number.NaN, 1]],
    ],
  })
  assert.ok(quality)
  assert.deepEqual(
    quality.rows.map(({ priority, hasPfc, dscps, isOfRdma, isDefault }) => [
      priority,
      hasPfc,
      dscps,
      isOfRdma,
      isDefault,
    ]),
    [0, 1, 2, 3, 4, 5, 6, 7].map((priority) => [
      priority,
      priority === 3,
      { 0: '0–25, 27–47, 49–63', 3: '26', 6: '48' }[priority] ?? '',
      priority === 3,
      priority === 0,
    ]),
  )
  assert.equal(quality.rows[3]?.sent.value, 5e9)
  assert.equal(qualityWords(quality, ''), 'Trusts DSCP; PFC on priority 3; RDMA runs on priority 3')
})

test('what nobody reports is unknown, with its reason', () => {
  assert.equal(answered({}), undefined)
  const quality = answered(TRAFFIC)
  assert.ok(quality)
  assert.equal(
    qualityWords(quality, 'the program dcb is not installed'),
    'Trust unknown; PFC unknown: the program dcb is not installed; RDMA runs on priority 3',
  )
  const { ethtool_priority_tx_bytes_total } = TRAFFIC
  const idle = answered({ ethtool_priority_tx_bytes_total, dcb_port_pfc_mask: [[{}, [0, 0]]] })
  assert.equal(idle && qualityWords(idle, ''), 'Trust unknown; no priority has PFC')
})
