// What the configuration of the simulator can name. The simulator itself is loaded only if it runs; a test holds
// these to it.

/** Names of the kinds of node; the first is the default. */
export const CLASS_NAMES = ['hgx-h100', 'hgx-h200', 'hgx-b200', 'dpu-host', 'small'] as const

/** Names of the scenarios. */
export const SCENARIO_NAMES = [
  'healthy',
  'retransmission-storm',
  'pfc-storm',
  'incast',
  'hash-collision',
  'link-flap',
  'link-downtrain',
  'link-ber',
  'pcie-downtrain',
  'pcie-aer',
  'ecc-burst',
  'thermal-throttle',
  'power-cap',
  'power-brake',
  'straggler',
  'stuck-collective',
  'data-stall',
  'gpu-lost',
  'noisy-neighbour',
  'checkpoint',
  'checkpoint-asynchronous',
  'mig',
  'time-slicing',
  'random',
] as const

/** Scenarios that run or wait at a time. */
export const RUNNING_LIMIT = 16
