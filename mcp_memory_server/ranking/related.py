"""Everyday English words that stand for one another when people ask: "pets" for a dog, "job" for a career.

Written for this project. Without an embedder, words are all there is, and a question seldom repeats those of
the fact. The table gives the commonest ways round that; it is no thesaurus. In a line with a colon the word
before it is the wider one: it is linked to each word after it, and these not to one another. In a line
without, all words are linked.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final

from .languages import stem

_WIDER: Final = """
    pet: dog cat puppy kitten hamster rabbit parrot goldfish turtle bird guinea
    animal: dog cat horse bird fish cow pig sheep wildlife pet zoo
    family: mother father mom dad parent brother sister sibling son daughter child kid husband wife grandmother
        grandfather grandma grandpa cousin aunt uncle nephew niece relative
    parent: mother father mom dad
    child: son daughter kid baby toddler
    sibling: brother sister
    partner: husband wife boyfriend girlfriend spouse fiance
    relationship: single married divorced dating engaged partner boyfriend girlfriend husband wife breakup
    married: wedding husband wife spouse anniversary
    job: engineer teacher doctor nurse lawyer manager developer designer accountant chef waiter salary boss
        employer office promotion interview profession occupation
    hobby: painting drawing reading gardening cooking baking knitting pottery photography hiking fishing chess
        gaming dancing singing woodworking collecting crafting
    sport: football soccer basketball baseball tennis golf hockey volleyball rugby cricket swimming running
        cycling skiing snowboarding surfing skating boxing wrestling climbing yoga gymnastics
    exercise: gym workout yoga running jogging swimming cycling hiking weightlifting fitness training pilates
    outdoors: hiking camping nature trail mountain forest park lake beach fishing kayaking climbing
    instrument: guitar piano violin drums flute cello trumpet saxophone ukulele keyboard clarinet bass
    music: song band concert album singer genre jazz rock pop classical playlist melody musician guitar piano
    art: painting drawing sculpture pottery gallery museum sketch canvas watercolor mural artist
    book: novel author read reading literature series fiction story
    movie: film cinema actor director theater comedy thriller documentary
    show: series episode television tv
    game: chess console xbox playstation nintendo gaming puzzle tournament
    food: meal dish cuisine restaurant snack breakfast lunch dinner pizza pasta salad soup sandwich burger sushi
        bread cheese meat chicken beef fish rice dessert vegetable fruit recipe cook
    diet: vegan vegetarian gluten dairy keto carb calorie halal kosher allergy nutrition
    dessert: cake cookie pie chocolate pudding brownie pastry cupcake icecream
    drink: coffee tea beer wine juice water soda milk cocktail smoothie beverage
    restaurant: cafe diner bistro cuisine menu
    vehicle: car truck bike motorcycle bus van bicycle suv
    car: toyota honda ford tesla bmw drive sedan suv
    transport: car train bus flight plane bike subway commute drive
    trip: flight hotel travel vacation holiday airport abroad cruise roadtrip itinerary
    country: france germany italy spain japan china india canada mexico england brazil australia america usa
        ireland sweden norway greece
    city: paris london berlin rome tokyo york boston chicago seattle
    weather: rain snow sunny storm cold hot temperature cloudy
    health: doctor hospital illness sick disease allergy medication surgery diagnosis therapy injury checkup
        diabetes asthma
    illness: sick flu cold fever cancer disease infection
    injury: hurt accident broken sprained ankle knee pain
    allergy: peanut pollen shellfish gluten lactose nut
    medicine: medication pill drug prescription aspirin antibiotic
    emotion: happy sad angry anxious afraid excited nervous proud lonely grateful upset stressed
    education: school college university degree class course study student teacher graduate exam
    degree: bachelor master phd major graduate diploma
    language: english spanish french german italian chinese japanese portuguese russian arabic
    clothes: dress shirt shoes jacket hat pants jeans sweater skirt coat boots
    jewelry: necklace ring bracelet earring
    furniture: chair table sofa desk bed couch shelf
    gift: birthday present christmas
    holiday: christmas thanksgiving easter halloween
    celebrate: birthday party anniversary wedding graduation
    event: party concert festival wedding conference meeting workshop parade race fair
    money: salary budget savings loan debt investment price cost afford bank income
    charity: donate volunteer fundraiser shelter homeless nonprofit
    volunteer: shelter charity community homeless
    religion: church faith god prayer christian muslim jewish buddhist hindu
    politics: election vote government president candidate
    device: phone laptop computer tablet
    computer: laptop software programming windows mac linux
    code: python java javascript rust programming software repository
    database: postgres sqlite mysql sql
    garden: plant flower vegetable tree rose tomato
    flower: rose tulip sunflower orchid lily daisy
    color: red blue green yellow purple orange black white pink brown
    time: hour minute morning afternoon evening clock
    home: house apartment flat condo room rent mortgage
    address: street city house live
    origin: born grew homeland hometown country
    goal: plan dream aspire hope ambition
    friend: buddy roommate colleague neighbor
    subscription: netflix spotify membership
    security: password encryption token
    meeting: standup call appointment schedule calendar
"""

_ALIKE: Final = """
    job work career profession occupation employment
    movie film
    kid child
    mom mother mum
    dad father
    buy purchase bought acquire
    purchase order
    begin start
    finish complete end
    like love enjoy favorite prefer fond
    prefer preference favorite
    hate dislike avoid
    scared afraid fear
    happy glad joy
    sad upset unhappy
    angry mad
    big large huge
    small little tiny
    trip travel journey vacation visit
    vacation holiday
    live reside move
    move relocate moved
    house home
    apartment flat
    street address
    photo picture image photograph
    picture painting
    car vehicle automobile
    bike bicycle cycling
    phone mobile cell telephone smartphone number
    email mail
    sick ill unwell
    doctor physician
    medicine medication
    hurt injury injured
    exercise workout fitness
    jog run running
    hike hiking trek
    meal food
    dinner supper
    eat food meal
    cook cooking recipe bake
    restaurant eatery
    drink beverage
    vegetarian vegan
    gift present
    party celebration celebrate
    wedding marriage married
    boyfriend girlfriend dating
    spouse husband wife
    college university
    school class
    teach teacher taught
    learn study
    student pupil
    exam test
    fix repair
    error bug failure
    build create make
    write writing author
    read reading book
    sing singer song
    paint painting art
    draw drawing sketch
    dance dancer dancing
    win won award prize trophy
    award prize medal
    competition contest tournament race
    team club
    company business firm employer
    business startup shop store
    store shop
    boss manager supervisor
    coworker colleague
    friend friendship buddy
    help support assist
    advice suggest recommend suggestion tip
    recommend suggest
    talk speak discuss conversation chat
    discuss conversation
    call phone
    meet met encounter
    invite invitation
    think opinion believe view
    feel feeling emotion
    want wish desire
    plan intend future upcoming
    goal aim dream aspiration
    hope wish
    need require
    remember recall memory
    name called named
    age old birthday born
    birthday born
    quick fast
    cheap inexpensive affordable
    cost price expensive
    pay payment
    salary income wage
    money finance financial
    stress stressed anxiety anxious
    relax unwind calm
    peaceful calm serene
    sleep bed
    difficult hard challenge challenging
    problem issue trouble challenge
    beautiful pretty gorgeous
    funny humor comedy
    game gaming play
    outdoors nature outside
    beach ocean sea
    mountain hill climbing
    woods forest
    adopt adoption
    pregnant baby birth
    die death passed died funeral
    lose lost loss
    dog puppy
    cat kitten
    church faith religion religious
    volunteer volunteering
    donate donation charity
    army military soldier
    policy rule
    setting configuration config option
    deploy release rollout
    server host
    folder directory
    delete remove
    password credential
    timezone zone
    area region district
    group community
    inspire inspiration inspired motivate motivated
    encourage support motivate
    interest hobby passion pastime
    activity hobby event
    skill talent ability
    type kind genre
    pass succeed
    improve better
    attend join participate
    research researching study investigate
"""


@cache
def related_stems() -> Mapping[str, tuple[str, ...]]:
    """For each English stem those to look for beside it, in alphabetical order."""
    links: dict[str, set[str]] = {}
    for line in _WIDER.replace("\n        ", " ").strip().splitlines():
        wider, _, narrower = line.partition(":")
        hub = stem(wider.strip(), "english")
        for word in narrower.split():
            member = stem(word, "english")
            links.setdefault(hub, set()).add(member)
            links.setdefault(member, set()).add(hub)
    for line in _ALIKE.strip().splitlines():
        group = {stem(word, "english") for word in line.split()}
        for member in group:
            links.setdefault(member, set()).update(group)
    return {word: tuple(sorted(others - {word})) for word, others in links.items()}


@cache
def everyday_words() -> list[str]:
    """All words of the table, in alphabetical order."""
    return sorted({word.strip(":") for word in f"{_WIDER} {_ALIKE}".split()})
