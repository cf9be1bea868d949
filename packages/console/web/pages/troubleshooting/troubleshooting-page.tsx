import type { ExporterInstall, SondeProgram, TroubleshootingAnswer } from '@sonde/sdk/api'
import { useTroubleshooting } from '../../api/troubleshooting.ts'
import { Outlines } from '../../components/answer-state.tsx'
import { Headline } from '../../components/headline.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { SegmentChoice } from '../../components/segment-choice.tsx'
import { Unanswered } from '../../components/unanswered.tsx'
import { usePageState } from '../../state/time-window.ts'
import { usePageTitle } from '../use-page-title.ts'
import { HopPanel } from './hop-panel.tsx'
import { hopsHeadline } from './hop-words.ts'

const EXPORTERS: readonly (readonly [ExporterInstall, string])[] = [
  ['helm', 'Helm chart'],
  ['operator', 'GPU Operator'],
  ['none', 'none'],
]
const PROGRAMS: readonly (readonly [SondeProgram, string])[] = [
  ['agent', 'agent'],
  ['console', 'console'],
  ['ps', 'sonde ps'],
]

/** Every hop between a GPU and the page, with the commands that show it. */
export function TroubleshootingPage() {
  usePageTitle('Troubleshooting')
  const page = usePageState()
  const { exporter, program } = page.url
  const { data, error, retry } = useTroubleshooting(exporter, program)
  return (
    <>
      <PageHead
        title="Troubleshooting"
        parent={{ label: 'Settings', href: page.hrefTo('/settings') }}
        note="each hop from the GPU to this page"
      />
      {!data && error && <Unanswered fact="The hops are not known." error={error} onRetry={retry} />}
      {!data && !error && <Outlines panels={4} waitsFor="a walk over all hops" />}
      {data && <Hops answer={data} />}
    </>
  )
}

function Hops({ answer }: { readonly answer: TroubleshootingAnswer }) {
  const page = usePageState()
  const { hops, exporter, program } = answer
  return (
    <>
      <Headline text={hopsHeadline(hops)} />
      <div className="hop-choices">
        <SegmentChoice
          label="Exporter installed by"
          options={EXPORTERS}
          value={exporter}
          onChange={(next) => page.change({ exporter: next }, 'replace')}
        />
        <SegmentChoice
          label="You run"
          options={PROGRAMS}
          value={program}
          onChange={(next) => page.change({ program: next }, 'replace')}
        />
      </div>
      <ol className="hops">
        {hops.map((hop) => (
          <li key={hop.name}>
            <HopPanel hop={hop} />
          </li>
        ))}
      </ol>
    </>
  )
}
