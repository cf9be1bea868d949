import { firstLine } from '../chains/attributes.ts'
import { broken, fine, type Step } from '../chains/chain.ts'
import { type ChainContext, ReadRefusal } from '../chains/chain-context.ts'

/** What the host reads beside procfs and sysfs: a program, a call of the kernel, or a file below `/dev`. */
interface ExplainedOther {
  readonly alias: string
  readonly types: readonly string[]
  /** Steps named as those of files, because chains are merged step by step. */
  readonly steps: (context: ChainContext) => readonly Step[]
}

const CALL = 'adjtimex'

function clockSteps(): readonly Step[] {
  return [
    { name: 'file', check: async () => fine(CALL, 'a call of the kernel, without a file') },
    { name: 'driver', check: async () => fine(CALL, 'the kernel itself') },
    { name: 'permission', check: async () => fine(CALL, 'every user may ask') },
    { name: 'counters', check: async () => fine(CALL, 'a small process asks each minute, first after 10 s') },
  ]
}

function systemdSteps(context: ChainContext): readonly Step[] {
  const path = `${context.procfs}/1/comm`
  return [
    {
      name: 'file',
      async check() {
        const found = await context.read(path)
        if (found instanceof ReadRefusal)
          return broken(path, found.words, 'mount the procfs of the node, and give it with --path.procfs')
        const first = firstLine(found)
        if (first === 'systemd') return fine(path, 'systemd is the first process')
        return broken(
          path,
          `the first process is ${first}, not systemd`,
          'in a container, give the root of the node as root_folder of the source host; other init systems have no units',
        )
      },
    },
    { name: 'driver', check: async () => fine('systemctl', 'a program of systemd') },
    { name: 'permission', check: async () => fine('systemctl', 'every user may list units') },
    { name: 'counters', check: async () => fine('systemctl', 'it is asked every 30 s, first after 10 s') },
  ]
}

function kernelLogSteps(context: ChainContext): readonly Step[] {
  const path = `${context.devfs}/kmsg`
  let found: Promise<unknown> | undefined
  const refusal = async (kind: ReadRefusal['kind']): Promise<ReadRefusal | undefined> => {
    found ??= context.read(path)
    const answer = await found
    return answer instanceof ReadRefusal && answer.kind === kind ? answer : undefined
  }
  return [
    {
      name: 'file',
      async check() {
        const missing = await refusal('missing')
        if (missing === undefined) return fine(path, 'it is there')
        return broken(path, missing.words, `in a container, mount ${path} of the node`)
      },
    },
    { name: 'driver', check: async () => fine(path, 'the kernel itself') },
    {
      name: 'permission',
      async check() {
        const denied = await refusal('denied')
        if (denied === undefined) return fine(`open ${path}`, 'permitted')
        const fix = 'give Sonde CAP_SYSLOG, or sudo sysctl kernel.dmesg_restrict=0'
        return broken(`open ${path}`, denied.words, fix)
      },
    },
    { name: 'counters', check: async () => fine(path, 'only messages from after the start of Sonde are counted') },
  ]
}

function cgroupSteps(context: ChainContext): readonly Step[] {
  const root = `${context.sysfs}/fs/cgroup`
  return [
    {
      name: 'file',
      async check() {
        const path = `${root}/cgroup.controllers`
        const found = await context.read(path)
        if (!(found instanceof ReadRefusal)) return fine(path, 'control groups are of version 2')
        const fix = 'start the kernel with systemd.unified_cgroup_hierarchy=1; version 1 has no pressure'
        return broken(path, found.words, fix)
      },
    },
    { name: 'driver', check: async () => fine(root, 'the kernel itself') },
    {
      name: 'permission',
      async check() {
        const path = `${root}/cgroup.type`
        const found = await context.read(path)
        if (found instanceof ReadRefusal) return fine(root, 'it shows the groups of the node')
        return broken(path, 'only the group of Sonde is shown', 'mount /sys of the node, and give it with --path.sysfs')
      },
    },
    { name: 'counters', check: async () => fine(root, 'groups that wait for at least 1 % of the time are reported') },
  ]
}

/** Chains of what is read beside procfs and sysfs, by name. */
export const explainedOther: ReadonlyMap<string, ExplainedOther> = new Map<string, ExplainedOther>([
  ['clock', { alias: CALL, types: ['host_clock'], steps: clockSteps }],
  ['systemd', { alias: 'systemctl', types: ['host_systemd', 'host_failed_unit'], steps: systemdSteps }],
  ['cgroup', { alias: 'cgroups', types: ['host_cgroup_pressure', 'host_cgroups'], steps: cgroupSteps }],
  ['kmsg', { alias: 'dmesg', types: ['host_kernel_log', 'host_kernel_message'], steps: kernelLogSteps }],
])
