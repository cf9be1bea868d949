// The page docs/hardware-verification.md: how each assumption about hardware is known, and which check of the self-test
// answers those that are not known yet. The names of checks are those of the code, so a check that is gone or renamed
// does not compile.

import { DOCA_CHECKS, type DocaCheck } from '../../packages/agent/src/self-test/doca/checks.ts'

type Proof = 'header' | 'double' | 'report' | 'hardware'

interface Known {
  readonly assumption: string
  readonly by: readonly Proof[]
  /** The check that hardware answers as well. */
  readonly check?: DocaCheck
}

interface Unknown {
  readonly assumption: string
  readonly by: 'not yet'
  readonly check: DocaCheck
}

interface ByHand {
  readonly assumption: string
  readonly by: 'not yet'
  /** The command that answers it. */
  readonly command: string
}

/** Every assumption about the DOCA Telemetry libraries and their devices. */
const ASSUMPTIONS: readonly (Known | Unknown | ByHand)[] = [
  {
    assumption: 'Names and parameters of all functions; numbers of errors and enumerations; offsets of all structures',
    by: ['header'],
    check: 'library.domains',
  },
  {
    assumption: 'The structures of a port that a device writes are as long as those of the headers',
    by: 'not yet',
    check: 'phy.layout',
  },
  {
    assumption: 'The structures of a PCIe link that a device writes are as long as those of the headers',
    by: 'not yet',
    check: 'pci.layout',
  },
  {
    assumption: 'One shared library for all six domains, named `libdoca_telemetry.so.2`, also in DOCA 3',
    by: 'not yet',
    check: 'library.domains',
  },
  {
    assumption: 'Calls of several devices in parallel, and several contexts of one device',
    by: 'not yet',
    check: 'library.parallel',
  },
  {
    assumption: 'The place of three bytes, which `doca_telemetry_pci` takes by value, fits one register',
    by: ['double'],
    check: 'pci.place',
  },
  { assumption: 'Order of calls: create, configure, start, read, stop, destroy', by: ['header', 'double'] },
  { assumption: '`0.0.0` is the PCIe link of a device', by: 'not yet', check: 'pci.place' },
  {
    assumption: '`inbound` and `outbound` of PCIe bytes: which of them is towards the host',
    by: 'not yet',
    check: 'diag.directions',
  },
  {
    assumption:
      'Threshold of the events of stalled PCIe reads and writes; whether the library counts events or seconds',
    by: 'not yet',
    check: 'pci.stalls',
  },
  { assumption: 'Meaning of FBER', by: 'not yet', check: 'pci.fber' },
  {
    assumption: 'Number and width of the buckets of read latency on each device',
    by: 'not yet',
    check: 'pci.latency',
  },
  {
    assumption:
      'A plane of a port is an RDMA device with the PCI device of another, without a device in `infiniband_verbs`; the counters of the other are those of the whole port',
    by: 'not yet',
    command: 'rdma dev show',
  },
  {
    assumption:
      'The image of arm64, for BlueField and Grace, starts. It is assembled, and the ELF header of each of its binaries is checked, but it has not run',
    by: 'not yet',
    command: 'podman run --rm sonde:0.1.0 --version',
  },
  {
    assumption:
      'Grace lists the NUMA nodes with memory of a GPU as generic initiators without CPUs, so that `host_numa_device_memory` is 1',
    by: ['report'],
  },
  { assumption: 'A ratio with a zero in one of its two numbers is no ratio', by: ['header'] },
  {
    assumption: '`15e-255` is the effective bit error ratio of a link without errors',
    by: ['report'],
    check: 'phy.ratios',
  },
  {
    assumption: 'A sensor of a module is there if the module has monitoring, and its upper threshold is not 0',
    by: ['header'],
    check: 'phy.module',
  },
  { assumption: 'How long a module takes to answer; Sonde reads it every 10 s', by: 'not yet', check: 'phy.module' },
  {
    assumption: '`link_down_recovery_counter` counts recoveries without a link that goes down',
    by: 'not yet',
    check: 'phy.recoveries',
  },
  { assumption: 'Speed and state of a port agree with the RDMA driver', by: 'not yet', check: 'phy.link' },
  { assumption: 'Names of the counters of shipped congestion-control algorithms', by: 'not yet', check: 'pcc.names' },
  {
    assumption: 'Reading algorithm, version, state and number of counters is cheap enough for each second',
    by: 'not yet',
    check: 'pcc.cost',
  },
  { assumption: 'A counter of the accelerator runs on after the end of its starter', by: ['report'] },
  {
    assumption: '`start` of the accelerator without a process fails with `DRIVER`',
    by: ['report'],
    check: 'dpa.start',
  },
  { assumption: 'The list of threads of an accelerator asks for 1.8 MB', by: ['report'], check: 'dpa.lists' },
  { assumption: 'Only one type of counter runs at a time on an accelerator', by: ['report'] },
  {
    assumption: 'The lists of processes and threads have the layout of the headers',
    by: 'not yet',
    check: 'dpa.layout',
  },
  {
    assumption: '`get_counter_state` reports a running counter of another program as active',
    by: 'not yet',
    check: 'dpa.ownership',
  },
  { assumption: 'A device takes the bins of the histogram that Sonde asks for', by: 'not yet', check: 'adp_retx.bins' },
  {
    assumption: 'Sampling of diagnostic counters taints the kernel',
    by: 'not yet',
    check: 'diag.taint',
  },
  { assumption: 'All other calls do not taint the kernel', by: 'not yet', check: 'library.taint' },
  {
    assumption: 'File permission on `/dev/fwctl/*` is enough, without root',
    by: 'not yet',
    check: 'library.permission',
  },
  { assumption: 'A sample of format 1 has 16 bytes, and 8 for each counter', by: ['header'], check: 'diag.layout' },
  { assumption: 'Shortest period of samples, and which counters each device has', by: 'not yet', check: 'diag.ids' },
  { assumption: 'A second context of diagnostic counters is refused', by: ['header'], check: 'diag.ownership' },
  { assumption: 'The clock of samples is that of the host, or another', by: 'not yet', check: 'diag.clock' },
  { assumption: 'Cost: 64 µs to read samples of a running device', by: ['report'], check: 'diag.cost' },
  { assumption: 'Cost: 2 ms for a sample on demand', by: ['report'], check: 'diag.on_demand' },
  {
    assumption:
      'The functions `…_by_pci_addr` of DOCA 3.4, histograms of forward error correction, and representors are not bound, because no header was read',
    by: 'not yet',
    check: 'library.newer',
  },
]

const HEAD = `# What hardware still has to prove

<!-- Generated by \`npm run docs\` from scripts/docs/hardware-verification.ts; not edited by hand. -->

No ConnectX and no BlueField was available. The sources of the DOCA Telemetry libraries run in tests against [a double
of the libraries](../test/doubles/doca/README.md). This page lists how each assumption is known:

* **header**: read in NVIDIA's public headers; a test compares it with numbers of a C compiler.
* **double**: the double plays it, as the headers or NVIDIA's samples describe it.
* **report**: reported by users of a BlueField-3; the double plays it behind a switch.
* **hardware**: a check of the self-test passed on hardware. No assumption has come so far.
* **not yet**: only hardware can answer.

\`sonde explain --self-test doca\` makes the checks on a node with such a device. [Its report](cli.md#self-test) fits into
a public bug report, which we ask for. The check in the last column answers the assumption.
\`rdma dev show\` is a command of iproute2, because the self-test asks only the libraries, and
\`podman\` runs [the image](container.md).

## Assumptions

| Assumption | Known by | Check |
|---|---|---|
`

const CHECKS = `
## Checks of the self-test

Those of \`diag\`, but for the first, need \`--accept-taint\`. The others read only: they never clear, restart or take over
a counter. The histogram of \`adp_retx\` counts only while it is open. So the self-test opens it as the source does, and
keeps bins that another program has configured.

| Check | What it asks |
|---|---|
`

/** The page. */
export function hardwareVerificationPage(): string {
  const rows = ASSUMPTIONS.map((row) => {
    const proofs = row.by === 'not yet' ? row.by : row.by.join(', ')
    const check = 'command' in row ? row.command : row.check
    return `| ${row.assumption} | ${proofs} | ${check === undefined ? '' : `\`${check}\``} |`
  })
  const checks = Object.entries(DOCA_CHECKS).map(([check, asks]) => `| \`${check}\` | ${asks} |`)
  return `${HEAD}${rows.join('\n')}\n${CHECKS}${checks.join('\n')}\n`
}
