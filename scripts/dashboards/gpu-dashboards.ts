import { CLUSTER, type DashboardDescription, NO_DATA, NODE, panel, panelOf } from './description.ts'
import { GPUS_OF_PODS, gpuSelector, gpusBy } from './gpu-names.ts'
import { activityRow, errorRow, hardwareRow } from './gpu-panels.ts'

const CHOSEN = 'cluster=~"$rack",instance=~"$node"'
const APP = 'namespace=~"$namespace",app=~"$app"'
const used = gpuSelector('DCGM_FI_DEV_FB_USED', CHOSEN)

/** Variables by which the console links to an app. */
const WORKLOADS = ['namespace', 'app', 'service'].map((name) => {
  const label = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`
  return { name, label, query: `label_values({__name__=~"pod_gpus|DCGM_FI_DEV_FB_USED"}, ${name})` }
})

/** All GPUs of a cluster: how many, how busy, which suffer. */
export const GPU_CLUSTER: DashboardDescription = {
  ...{ uid: 'sonde-gpu-cluster', title: 'Sonde: GPU cluster' },
  about:
    'All GPUs of a cluster. Charts over time read recorded series, which stay cheap for weeks and a thousand nodes.',
  variables: [CLUSTER, NODE],
  rows: [
    {
      title: 'Now',
      panels: [
        panel('GPUs', 'short', [`count(${used})`, ''], {
          ...{ kind: 'stat', help: 'GPUs and MIG instances with a sample.', noData: NO_DATA.gpu },
        }),
        panel('GPUs in use', 'short', [`count(${used} > 1024)`, ''], {
          ...{ kind: 'stat', help: 'GPUs with over 1 GiB of memory in use.', noData: NO_DATA.none },
        }),
        panel('Idle with memory', 'short', [idle(), ''], {
          help: 'GPUs that hold memory and do nothing. SM active decides, and utilisation where it is missing.',
          ...{ kind: 'stat', noData: NO_DATA.none, warning: 1 },
        }),
        panel('Power', 'watt', [`sum(${gpuSelector('DCGM_FI_DEV_POWER_USAGE', CHOSEN)} < 1e5)`, ''], {
          ...{ kind: 'stat', help: 'Power of all boards.', noData: NO_DATA.gpu },
        }),
        panel('Hottest GPU', 'celsius', [`max(${gpuSelector('DCGM_FI_DEV_GPU_TEMP', CHOSEN)} < 1000)`, ''], {
          ...{ kind: 'stat', help: 'The highest temperature.', noData: NO_DATA.gpu, warning: 85, critical: 95 },
        }),
        panel('Critical hints', 'short', [`sum(sonde_hints_open{${CHOSEN},severity="critical"})`, ''], {
          ...{ kind: 'stat', help: 'Open hints of Sonde.', noData: NO_DATA.sonde, critical: 1 },
        }),
        panel('Hottest', 'celsius', [top('DCGM_FI_DEV_GPU_TEMP', '< 1000'), '{{instance}} GPU {{gpu}}'], {
          ...{ kind: 'table', help: 'The ten hottest GPUs.', noData: NO_DATA.gpu, warning: 85, critical: 95 },
        }),
        panel('Most power', 'watt', [top('DCGM_FI_DEV_POWER_USAGE', '< 1e5'), '{{instance}} GPU {{gpu}}'], {
          ...{ kind: 'table', help: 'The ten GPUs with the most power.', noData: NO_DATA.gpu },
        }),
        panel('Last XID', 'short', [`${top('DCGM_FI_DEV_XID_ERRORS', '> 0')}`, '{{instance}} GPU {{gpu}}'], {
          ...{ kind: 'table', help: 'GPUs with an XID error, by its number.', noData: NO_DATA.none },
        }),
      ],
    },
    {
      title: 'Over time, by node',
      panels: [
        recorded(
          'SM active',
          'percentunit',
          'instance:sonde_gpu_sm_active_ratio:avg',
          'Mean of the GPUs of a node.',
          1,
        ),
        recorded('Memory used', 'percentunit', 'instance:sonde_gpu_memory_used_ratio:avg', 'Share that is in use.', 1),
        recorded('Power', 'watt', 'instance:sonde_gpu_power_watts:sum', 'Power of the GPUs of a node.'),
        recorded('Hottest GPU', 'celsius', 'instance:sonde_gpu_temperature_celsius:max', 'The hottest GPU of a node.'),
        recorded('GPUs', 'short', 'instance:sonde_gpus:count', 'A step down is a lost GPU, or a lost node.'),
        panelOf(
          'GPUs with lower clocks, by reason',
          'percentunit',
          ['HW_THERM_SLOWDOWN', 'SW_THERM_SLOWDOWN', 'SW_POWER_CAP', 'HW_POWER_BRAKE_SLOWDOWN'].map((reason) => {
            const metric = `DCGM_FI_DEV_CLOCKS_EVENT_REASON_${reason}_NS`
            return [
              `avg(rate(${metric}{${CHOSEN}}[$__rate_interval])) / 1e9`,
              reason.toLowerCase().replaceAll('_', ' '),
            ]
          }),
          {
            help: 'Share of time in which a reason held, as mean of all GPUs.',
            noData: NO_DATA.sondeGpu,
            min: 0,
            max: 1,
          },
        ),
      ],
    },
  ],
}

/** GPUs of pods that hold memory and are idle. */
function idle(): string {
  const by = 'instance, gpu, UUID, uuid, GPU_I_ID'
  const active = `max by (${by}) (${gpuSelector('DCGM_FI_PROF_SM_ACTIVE', CHOSEN)}) * 100`
  const busy = `(${active} or max by (${by}) (${gpuSelector('DCGM_FI_DEV_GPU_UTIL', CHOSEN)}))`
  return `count(${busy} < 5 and max by (${by}) (${used}) > 1024)`
}

function top(metric: string, bound: string): string {
  return `topk(10, max by (instance, gpu, UUID, uuid) (${gpuSelector(metric, CHOSEN)} ${bound}))`
}

function recorded(title: string, unit: string, record: string, help: string, max?: number) {
  return panel(title, unit, [`${record}{${CHOSEN}}`, '{{instance}}'], {
    ...{ help, noData: NO_DATA.rules, min: 0 },
    ...(max === undefined ? {} : { max }),
  })
}

/** The GPUs of the pods of an app. */
export const GPU_APP: DashboardDescription = {
  ...{ uid: 'sonde-gpu-app', title: 'Sonde: GPUs of an app' },
  about: 'What the pods of an app do with their GPUs. Without labels of apps, choose All, and the namespace.',
  variables: [CLUSTER, ...WORKLOADS],
  rows: [
    {
      title: 'Pods, as Sonde knows them',
      panels: [
        panel('GPUs', 'short', [`sum(pod_gpus{cluster=~"$rack",${APP},service=~"$service"})`, ''], {
          ...{ kind: 'stat', help: 'GPUs that the pods hold.', noData: NO_DATA.pods },
        }),
        panel('Pods', 'short', [`count(pod_gpus{cluster=~"$rack",${APP},service=~"$service"})`, ''], {
          ...{ kind: 'stat', help: 'Pods with a GPU.', noData: NO_DATA.pods },
        }),
        panel('Power', 'watt', [`sum(pod_gpu_power_watts{cluster=~"$rack",${APP},service=~"$service"})`, ''], {
          ...{ kind: 'stat', help: 'Power of the GPUs that no other pod uses.', noData: NO_DATA.pods },
        }),
        panel('SM active', 'percentunit', ofApp('app:sonde_gpu_sm_active_ratio:avg'), {
          ...{ help: 'Mean of the pods of an app.', noData: NO_DATA.rules, min: 0, max: 1, width: 6 },
        }),
        panel('Slowest pod', 'percentunit', ofApp('app:sonde_gpu_sm_active_ratio:min'), {
          ...{
            help: 'SM active of the slowest pod, which holds up the others.',
            noData: NO_DATA.rules,
            min: 0,
            max: 1,
          },
          width: 6,
        }),
      ],
    },
    ...[activityRow(GPUS_OF_PODS), hardwareRow(GPUS_OF_PODS), errorRow(GPUS_OF_PODS)],
  ],
}

function ofApp(record: string): readonly [string, string] {
  return [`${record}{cluster=~"$rack",${APP}}`, '{{namespace}}/{{app}}']
}

const ONE = gpusBy('instance=~"$node",gpu=~"$gpu"')

/** The GPUs of a node, or one of them: the console links to it from a GPU. */
export const GPU: DashboardDescription = {
  ...{ uid: 'sonde-gpu', title: 'Sonde: GPU' },
  about: 'One GPU, or all of a node: what it does, its clocks and links, and its errors.',
  variables: [NODE, { name: 'gpu', label: 'GPU', query: 'label_values(DCGM_FI_DEV_FB_USED{instance=~"$node"}, gpu)' }],
  rows: [activityRow(ONE), hardwareRow(ONE), errorRow(ONE)],
}
