import { useMemo } from 'react'
import { useExplain } from '../../api/explain.ts'
import { useSources, useTypes } from '../../api/resources.ts'
import { useTense } from '../../api/stale.ts'
import { ComboInput } from '../../components/combo-input.tsx'
import type { ComboOption } from '../../components/combo-options.ts'
import { Empty } from '../../components/empty.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { Headline, type HeadlineText } from '../../components/headline.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { metricsOfType } from '../../state/listed-metrics.ts'
import { usePageState } from '../../state/time-window.ts'
import { usePageTitle } from '../use-page-title.ts'
import { ExplainChain } from './explain-chain.tsx'
import { explainHeadline } from './explain-words.ts'
import { ExplainableSources } from './explainable-sources.tsx'
import { OtherWalks } from './other-walks.tsx'

const NOTHING_ASKED: HeadlineText = {
  tone: 'calm',
  sentence: 'Ask about a source, a device, a metric or a rule',
  facts: 'Every link between the hardware and its value is then tried, one after the other.',
}

/** Explains why a number is missing, link by link, from the configuration to the value. */
export function ExplainPage() {
  const page = usePageState()
  const of = page.url.of ?? ''
  const title = of === '' ? 'Explain' : `Explain ${of.replace(/^rule:/, 'rule ')}`
  usePageTitle(title)
  const walk = useExplain(of)
  const { answer, error, isWalking } = walk
  const options = useThings()
  const tense = useTense()
  return (
    <>
      <PageHead title={title} parent={{ label: 'Sources', href: page.hrefTo('/sources') }}>
        <ComboInput
          label="Source, device, metric or rule"
          placeholder="Source, device, metric or rule"
          className="explain-what"
          value={of}
          options={options}
          onCommit={(next) => page.change({ of: next || undefined }, 'push')}
        />
      </PageHead>
      {of === '' && (
        <>
          <Headline text={NOTHING_ASKED} />
          <ExplainableSources />
        </>
      )}
      {error && (
        <Empty icon="critical" fact={`${of} cannot be explained.`}>
          {sentence(error.message)}
        </Empty>
      )}
      {answer && (
        <PanelBoundary>
          <Headline text={explainHeadline(answer, tense)} />
          <ExplainChain answer={answer} walk={walk} />
          <OtherWalks walks={answer.others} />
        </PanelBoundary>
      )}
      {of !== '' && isWalking && !answer && !error && (
        <div className="outlines" aria-busy="true">
          <p className="visually-hidden">Walking</p>
          <div className="panel outline" />
        </div>
      )}
    </>
  )
}

/** Capitalises an error of the server. It starts in lower case because elsewhere it follows an error code. */
function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`.replace(/\.\.$/, '.')
}

/** Suggested names. Other names can be typed. */
function useThings(): readonly ComboOption[] {
  const sources = useSources().data?.sources
  const types = useTypes().data?.types
  return useMemo(
    () => [
      ...(sources ?? []).map(({ name }) => ({ value: name, note: 'source' })),
      { value: 'traceback', note: 'rules and events' },
      ...(types ?? [])
        .filter(({ live }) => live)
        .flatMap((type) => metricsOfType(type).map(({ metric, help }) => ({ value: metric, note: help }))),
    ],
    [sources, types],
  )
}
