import type { PodAnswer, PodName } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { usePod } from '../../api/apps.ts'
import { useDevices } from '../../api/devices.ts'
import { AbsentList } from '../../components/absent-list.tsx'
import { Outlines } from '../../components/answer-state.tsx'
import { Empty } from '../../components/empty.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { Facts } from '../../components/facts.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { Unanswered } from '../../components/unanswered.tsx'
import { entityPath } from '../../devices/device.ts'
import { appPath } from '../../devices/pod-path.ts'
import { usePageState } from '../../state/time-window.ts'
import { usePageTitle } from '../use-page-title.ts'
import { numberFacts, numberGaps } from './number-facts.ts'
import { PodCharts } from './pod-charts.tsx'
import { PodDevices } from './pod-devices.tsx'
import { PodEvidence } from './pod-evidence.tsx'
import { podFacts } from './pod-facts.ts'
import { PodHeadline } from './pod-headline.tsx'
import { PodNicTable } from './pod-nics.tsx'
import { PodProcesses } from './pod-processes.tsx'

/** Names of Kubernetes, which need no quotes in a command. */
const KUBERNETES_NAME = /^[a-z0-9][a-z0-9.-]*$/

/** One GPU pod: its state, numbers, devices, interfaces and processes, and how each of them is known. */
export function PodPage(name: PodName) {
  const title = `${name.namespace}/${name.name}`
  usePageTitle(title)
  const page = usePageState()
  const { data, error, retry } = usePod(name)
  const { data: known } = useDevices()
  const entity = known?.devices.find((device) => device.kind === 'pod' && device.name === title)
  const app = data?.pod?.app ?? ''
  const parent =
    app === '' ? { label: 'Apps', href: page.hrefTo('/apps') } : { label: app, href: page.hrefTo(appPath(app)) }
  const isSimulated = data?.pod?.isSimulated === true
  return (
    <>
      <PageHead title={title} parent={parent} note={isSimulated && 'simulated'} />
      {!data && !error && <Outlines panels={4} waitsFor="the pod" />}
      {!data && error && <Unanswered fact="The pod is not known." error={error} onRetry={retry} />}
      {data?.state === 'unknown' && (
        <Empty fact={`No GPU pod ${title} was here in the last 24 hours.`}>
          A pod is listed if it holds or requests a GPU.
          {entity && (
            <>
              {' '}
              <Link href={page.hrefTo(entityPath(entity))}>Its other values</Link> are known.
            </>
          )}
          {KUBERNETES_NAME.test(name.namespace) && KUBERNETES_NAME.test(name.name) && (
            <>
              {' '}
              To see what Kubernetes knows:{' '}
              <code className="mono">{`kubectl get pod -n ${name.namespace} ${name.name}`}</code>
            </>
          )}
        </Empty>
      )}
      {data?.pod && <Pod answer={data} pod={data.pod} />}
    </>
  )
}

function Pod({ answer, pod }: { readonly answer: PodAnswer; readonly pod: NonNullable<PodAnswer['pod']> }) {
  const zone = usePageState().url.tz ?? 'utc'
  const isPresent = answer.state === 'present'
  const gaps = [...numberGaps(pod), ...answer.absent.map(({ part, reason }) => ({ title: PARTS[part], reason }))]
  return (
    <>
      <PodHeadline answer={answer} pod={pod} />
      <Facts label="State of the pod" facts={podFacts(answer, pod, zone)} />
      <Facts label="Numbers of the GPUs of the pod" facts={numberFacts(pod)} />
      <PanelBoundary>
        <PodDevices devices={answer.devices} isPresent={isPresent} />
      </PanelBoundary>
      {answer.processes.length > 0 && (
        <PanelBoundary>
          <PodProcesses processes={answer.processes} devices={answer.devices} isPresent={isPresent} />
        </PanelBoundary>
      )}
      {answer.nics.length > 0 && (
        <PanelBoundary>
          <PodNicTable nics={answer.nics} isPresent={isPresent} />
        </PanelBoundary>
      )}
      <PanelBoundary>
        <PodCharts pod={pod} nics={answer.nics} />
      </PanelBoundary>
      {pod.attribution !== null && <PodEvidence pod={pod} devices={answer.devices} nics={answer.nics} />}
      {gaps.length > 0 && <AbsentList label="Not known of this pod" items={gaps} />}
    </>
  )
}

const PARTS = {
  phase: 'Phase',
  devices: 'Devices',
  nics: 'Network interfaces and RDMA',
  processes: 'Processes',
} as const satisfies Record<PodAnswer['absent'][number]['part'], string>
