// Names that the configuration of the simulator accepts. The simulator itself is loaded only when it runs; a test
// compares both.

/** Names of the node classes; the first is the default. */
export const CLASS_NAMES = ['hgx-h100', 'hgx-h200', 'hgx-b200', 'dpu-host', 'small'] as const

/** Names of the scenarios. */
export const SCENARIO_NAMES = [
  'healthy',
  'retransmission-storm',
  'pfc-storm',
  'pfc-priority',
  'incast',
  'hash-collision',
  'link-flap',
  'link-downtrain',
  'link-ber',
  'pcie-downtrain',
  'pcie-aer',
  'pcie-stall',
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

/** Most scenarios that run or wait at the same time. */
export const RUNNING_LIMIT = 16
