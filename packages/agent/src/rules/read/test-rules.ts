// Files of rules for tests.

export const RX_BYTES = '0x1020000100000000'
export const TX_BYTES = '0x1140000100000000'
/** A gauge. */
export const LATENCY_MAX = '0x1160000d00000000'

/** The example of the guide, whose depth is no power of two. */
export const GUIDE = {
  diag_sample_period_ns: 100_000,
  sample_history_depth: 10_000,
  'data-ids': [{ name: 'port_rx_bytes', data_id: RX_BYTES }],
  rules: [
    {
      name: 'rx burst',
      data_id: RX_BYTES,
      comparison_type: 'differential_greater_than',
      comparison_value: 1_048_576,
    },
  ],
}

/** A file of rules of some signals, as text. */
export function rulesText(rules: readonly object[], more: object = {}): string {
  return JSON.stringify({
    diag_sample_period_ns: 100_000,
    sample_history_depth: 4,
    'data-ids': [
      { name: 'rx', data_id: RX_BYTES },
      { name: 'tx', data_id: TX_BYTES },
      { name: 'latency', data_id: LATENCY_MAX },
    ],
    rules,
    ...more,
  })
}

/** A rule on the received bytes. A key with the value undefined is left out. */
export function testRule(type: string, more: object = {}): object {
  return { name: 'r', data_id: RX_BYTES, comparison_type: type, ...more }
}
