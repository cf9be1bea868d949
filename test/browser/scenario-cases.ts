/** What shows a scenario in the samples themselves, independently of any rule. */
export interface Tell {
  readonly metric: string
  readonly function: 'last' | 'rate'
  /** Labels that the series must have beside those of the device. */
  readonly labels?: Readonly<Record<string, string>>
  /**
   * Whether the newest values show it; those of the devices of the same kind come beside. A series that ended is
   * undefined.
   */
  holds(own: number | undefined, siblings: readonly number[]): boolean
}

/** A scenario as somebody at the overview meets it. */
export interface ScenarioCase {
  readonly name: string
  /** Id and tile of the device that it strikes; left out by those that strike the node. */
  readonly device?: string
  readonly tile?: string
  /** Tile of a second device that it strikes as well. */
  readonly secondTile?: string
  readonly severity?: number
  readonly durationS?: number
  /** Left out where nothing may change: look-alikes that no single signal tells from health. */
  readonly tell?: Tell
  /** Rules of which hints may open; the first must. */
  readonly rules: readonly string[]
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0
const bits = (mask: number) => (own: number | undefined) => ((own ?? 0) & mask) !== 0

/**
 * Every scenario there is but `random`, on another device than the one it strikes where nobody says so. Those of a list
 * run on a node at a time: they strike different devices.
 */
export const SCENARIO_CASES: readonly (readonly ScenarioCase[])[] = [
  [
    {
      name: 'retransmission-storm',
      device: 'sim-nic-mlx5_1-1',
      tile: 'NIC 1',
      rules: ['retransmission_storm'],
      tell: { metric: 'rdma_hw_packet_seq_err_total', function: 'rate', holds: (own = 0) => own >= 100 },
    },
    {
      name: 'pcie-downtrain',
      device: 'sim-nic-mlx5_3-1',
      tile: 'NIC 3',
      rules: ['pcie_downtrain'],
      tell: {
        metric: 'pci_device_current_link_speed_transfers_per_second',
        function: 'last',
        holds: (own = 32e9) => own < 32e9,
      },
    },
    {
      name: 'pcie-aer',
      device: 'sim-nic-mlx5_7-1',
      tile: 'NIC 7',
      severity: 400,
      rules: ['pcie_aer'],
      tell: {
        metric: 'pci_device_aer_messages_total',
        function: 'rate',
        labels: { severity: 'correctable' },
        holds: (own = 0) => own > 31,
      },
    },
    {
      name: 'ecc-burst',
      device: 'sim-gpu-4',
      tile: 'GPU 4',
      durationS: 40,
      rules: ['ecc_uncorrected', 'ecc_corrected', 'ecc_pending'],
      tell: { metric: 'DCGM_FI_DEV_ECC_DBE_VOL_TOTAL', function: 'last', holds: (own = 0) => own > 0 },
    },
    {
      name: 'mig',
      device: 'sim-gpu-0',
      tile: 'GPU 0',
      rules: ['shared_device'],
      tell: { metric: 'DCGM_FI_DEV_MIG_MODE', function: 'last', holds: (own = 0) => own === 1 },
    },
    { name: 'time-slicing', device: 'sim-gpu-1', rules: [] },
    {
      name: 'link-ber',
      device: 'sim-nic-mlx5_2-1',
      tile: 'NIC 2',
      durationS: 120,
      rules: ['link_ber'],
      tell: {
        metric: 'ethtool_port_rx_corrected_bit_errors_phy_total',
        function: 'rate',
        // A healthy port corrects up to 42 500 bits a second.
        holds: (own = 0) => own > 300_000,
      },
    },
    {
      name: 'noisy-neighbour',
      device: 'sim-nic-mlx5_0-1',
      tile: 'NIC 0',
      rules: ['noisy_neighbour'],
      tell: {
        metric: 'ethtool_priority_tx_bytes_total',
        function: 'rate',
        labels: { priority: '0' },
        holds: (own = 0, siblings) => own > 10e9 && own > 10 * median(siblings),
      },
    },
    { name: 'checkpoint-asynchronous', rules: [] },
    { name: 'pcie-stall', rules: [] },
  ],
  [
    {
      name: 'pfc-storm',
      device: 'sim-nic-mlx5_6-1',
      tile: 'NIC 6',
      rules: ['pfc_source'],
      tell: {
        metric: 'ethtool_priority_tx_pause_seconds_total',
        function: 'rate',
        labels: { priority: '3' },
        holds: (own = 0) => own > 0.2,
      },
    },
    {
      name: 'hash-collision',
      device: 'sim-nic-mlx5_2-1',
      tile: 'NIC 2',
      secondTile: 'NIC 3',
      rules: ['congestion'],
      tell: {
        metric: 'rdma_hw_np_ecn_marked_roce_packets_total',
        function: 'rate',
        holds: (own = 0, siblings) => own > 100_000 && own > 10 * median(siblings),
      },
    },
    {
      name: 'incast',
      device: 'sim-nic-mlx5_4-1',
      tile: 'NIC 4',
      rules: ['congestion'],
      tell: {
        metric: 'rdma_hw_np_ecn_marked_roce_packets_total',
        function: 'rate',
        holds: (own = 0, siblings) => own > 100_000 && own > 10 * median(siblings),
      },
    },
    {
      name: 'thermal-throttle',
      device: 'sim-gpu-7',
      tile: 'GPU 7',
      severity: 35,
      durationS: 60,
      rules: ['thermal_throttle', 'gpu_hot'],
      tell: { metric: 'DCGM_FI_DEV_CLOCKS_EVENT_REASONS', function: 'last', holds: bits(0x60) },
    },
    {
      name: 'straggler',
      device: 'sim-gpu-2',
      tile: 'GPU 2',
      rules: ['straggler'],
      tell: {
        metric: 'DCGM_FI_DEV_SM_CLOCK',
        function: 'last',
        holds: (own = 1980, siblings) => own <= 0.92 * median(siblings),
      },
    },
  ],
  [
    {
      name: 'link-flap',
      device: 'sim-nic-mlx5_5-1',
      tile: 'NIC 5',
      rules: ['link_flap'],
      tell: { metric: 'rdma_port_state', function: 'last', holds: (own = 4) => own < 4 },
    },
    {
      name: 'link-downtrain',
      device: 'sim-nic-mlx5_6-1',
      tile: 'NIC 6',
      rules: ['link_flap', 'link_slow'],
      tell: { metric: 'rdma_port_state', function: 'last', holds: (own = 4) => own < 4 },
    },
    {
      name: 'gpu-lost',
      device: 'sim-gpu-6',
      tile: 'GPU 6',
      rules: ['gpu_lost'],
      tell: { metric: 'DCGM_FI_DEV_GPU_TEMP', function: 'last', holds: (own) => own === undefined },
    },
  ],
  [
    {
      name: 'power-cap',
      rules: ['power_cap'],
      tell: { metric: 'DCGM_FI_DEV_ENFORCED_POWER_LIMIT', function: 'last', holds: (own = 700) => own < 690 },
    },
  ],
  [
    {
      name: 'power-brake',
      rules: ['power_brake'],
      tell: { metric: 'DCGM_FI_DEV_CLOCKS_EVENT_REASONS', function: 'last', holds: bits(0x80) },
    },
  ],
  [
    {
      name: 'stuck-collective',
      rules: ['stuck_collective'],
      tell: { metric: 'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE', function: 'last', holds: (own = 1) => own < 0.01 },
    },
  ],
  [
    {
      name: 'data-stall',
      rules: ['data_stall'],
      tell: { metric: 'DCGM_FI_DEV_GPU_UTIL', function: 'last', holds: (own = 100) => own < 80 },
    },
  ],
  [
    {
      name: 'checkpoint',
      rules: ['checkpoint'],
      tell: { metric: 'DCGM_FI_DEV_GPU_UTIL', function: 'last', holds: (own = 100) => own < 40 },
    },
  ],
  [{ name: 'healthy', rules: [] }],
]
