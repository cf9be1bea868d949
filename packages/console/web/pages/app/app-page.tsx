import type { AppGpuAnswer, GpuSum } from '@sonde/sdk/api'
import { useAppGpu } from '../../api/apps.ts'
import { Outlines } from '../../components/answer-state.tsx'
import { Banner, type Notice } from '../../components/banner.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { Headline, type HeadlineText } from '../../components/headline.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { Unanswered } from '../../components/unanswered.tsx'
import { countText, formatQuantity } from '../../format/number.ts'
import { BYTES, PERCENT_WHOLE, WATTS } from '../../format/quantity.ts'
import { formatDuration } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import { appQuestion } from '../grafana/grafana-address.ts'
import { GrafanaLink } from '../grafana/grafana-link.tsx'
import { usePageTitle } from '../use-page-title.ts'
import { AppCharts } from './app-charts.tsx'
import { GpuPodTable } from './gpu-pod-table.tsx'
import { NoNumbers } from './no-numbers.tsx'
import { ServiceTable } from './service-table.tsx'
import { TelemetryBadge } from './telemetry-badge.tsx'
import { missingCauses } from './waiting-pods.ts'

/** The GPUs of an app: nine numbers per service, charts, one row per pod, and a sentence about anything missing. */
export function AppPage({ app }: { readonly app: string }) {
  usePageTitle(`${app} · GPU`)
  const page = usePageState()
  const { data, error, retry } = useAppGpu(app)
  const namespaces = new Set(data?.pods.map(({ namespace }) => namespace))
  const note = data && data.intervalMs > 0 && `a sample every ${formatDuration(data.intervalMs)}`
  return (
    <>
      <PageHead title={`${app} GPU`} parent={{ label: 'Apps', href: page.hrefTo('/apps') }} note={note}>
        {data && <TelemetryBadge state={data.state} />}
        <GrafanaLink question={appQuestion(app, namespaces)} hasHelp />
      </PageHead>
      {!data && !error && <Outlines panels={4} waitsFor="the pods of this app" />}
      {!data && error && <Unanswered fact="The GPUs of this app are not known." error={error} onRetry={retry} />}
      {data && data.state !== 'ready' && <NoNumbers answer={data} />}
      {data && data.services.length > 0 && <Numbers answer={data} />}
    </>
  )
}

function Numbers({ answer }: { readonly answer: AppGpuAnswer }) {
  const page = usePageState()
  const { app, services, leftOut, pods, state } = answer
  const isSimulated = pods.some((pod) => pod.isSimulated)
  return (
    <>
      {state === 'ready' && page.isLive && (
        <Headline text={headlineOf(answer)} announced={countText(pods.length, 'GPU pod')} />
      )}
      {!page.isLive && <Headline text={PAST_TEXT} />}
      {page.isLive && <Banner notices={services.flatMap((service) => partialNotices(service, pods))} />}
      {leftOut.services > 0 && (
        <p className="panel-note">
          The {countText(services.length, 'service')} with the most GPUs are shown;{' '}
          {countText(leftOut.services, 'service')} with {countText(leftOut.pods, 'pod')} are left out.
        </p>
      )}
      <PanelBoundary>
        <ServiceTable services={services} />
      </PanelBoundary>
      <PanelBoundary>
        <AppCharts
          app={app}
          services={leftOut.services > 0 ? services.map(({ name }) => name) : undefined}
          isSimulated={isSimulated}
          isSharing={pods.some(({ deviceValues }) => Object.keys(deviceValues).length > 0)}
          intervalMs={answer.intervalMs}
        />
      </PanelBoundary>
      <PanelBoundary>
        <GpuPodTable pods={pods} />
      </PanelBoundary>
      <p className="panel-note">{expectedWords(answer)}</p>
    </>
  )
}

/** Headline of a past window. The charts show the past; the tables show only the present. */
const PAST_TEXT: HeadlineText = {
  tone: 'calm',
  sentence: 'The charts show the window; services and pods are those of now.',
  facts: 'Which pods held GPUs then is not kept beside the values of each service.',
}

/** How many pods request GPUs, and which of them have no known GPU. */
function expectedWords({ services, knowsRequests }: AppGpuAnswer): string {
  if (!knowsRequests) {
    return (
      'Which pods ask for GPUs is not known here, so pods that are missing altogether cannot be seen; ' +
      'kube_pod_container_resource_requests of kube-state-metrics says it.'
    )
  }
  const expected = services.flatMap((service) => service.expected ?? [])
  const pods = expected.reduce((sum, service) => sum + service.pods, 0)
  const missing = expected.flatMap((service) => service.missing)
  const asking = `${countText(pods, 'pod')} ${pods === 1 ? 'asks' : 'ask'} for GPUs`
  if (missing.length === 0) return `${asking}; a GPU is known of each.`
  return `${asking}; of ${missing.length} no GPU is known: ${listed(missing)}.`
}

/** For services with no utilisation for more than a quarter of their pods: the pods, the cause, and the next step. */
function partialNotices(
  { name, missing, isPartial, pods }: AppGpuAnswer['services'][number],
  all: AppGpuAnswer['pods'],
): Notice[] {
  if (!isPartial) return []
  return [
    {
      id: name,
      tone: 'warning',
      fact: `${missing.length} of ${countText(pods, 'pod')} of ${name} ${missing.length === 1 ? 'has' : 'have'} no utilisation: ${listed(missing)}.`,
      detail: missingCauses(
        missing,
        all.filter(({ service }) => service === name),
      ),
    },
  ]
}

const LISTED_COUNT = 5

function listed(names: readonly string[]): string {
  const more = names.length - LISTED_COUNT
  return more > 0 ? `${names.slice(0, LISTED_COUNT).join(', ')} and ${more} more` : names.join(', ')
}

function headlineOf({ services, pods, totals }: AppGpuAnswer): HeadlineText {
  const missing = services.reduce((sum, service) => sum + service.missing.length, 0)
  const known = pods.flatMap(({ values }) => values['gpu-util'] ?? [])
  const util = known.length === 0 ? Number.NaN : known.reduce((sum, value) => sum + value, 0) / known.length
  const { gpus, sharedGpus, powerW, memoryUsedBytes } = totals
  const facts = [
    totalWords(powerW, pods.length, (watts) => formatQuantity(WATTS, watts)),
    totalWords(memoryUsedBytes, pods.length, (bytes) => `${formatQuantity(BYTES, bytes)} of GPU memory used`),
    sharedGpus > 0 && `${countText(sharedGpus, 'GPU is', 'GPUs are')} shared, and counted once`,
    countText(services.length, 'service'),
  ]
  return {
    tone: missing > 0 ? 'warning' : 'calm',
    sentence:
      missing > 0
        ? `${countText(missing, 'pod')} of ${pods.length} ${missing === 1 ? 'has' : 'have'} no utilisation.`
        : `${countText(pods.length, 'GPU pod')} on ${countText(gpus, 'GPU')}${Number.isNaN(util) ? '' : ` at ${formatQuantity(PERCENT_WHOLE, util)} utilisation`}.`,
    facts: facts.filter(Boolean).join(' · '),
  }
}

/** A sum over GPUs, with the number of pods if some lack the value. Empty if no pod has it. */
function totalWords(total: GpuSum | null, pods: number, words: (sum: number) => string): string {
  if (total === null) return ''
  const of = total.pods < pods ? ` by ${total.pods} of ${countText(pods, 'pod')}` : ''
  const whole = total.wholeGpus > 0 ? ` of ${countText(total.wholeGpus, 'whole GPU')}` : ''
  return `${words(total.sum)}${whole}${of}`
}
